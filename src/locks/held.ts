import { LockLostError, type LossReason } from './errors.ts';
import { Lease } from './lease.ts';
import type { LockScripts, ReleaseAnswer } from './lock-scripts.ts';
import type { Grant } from './obtain-lock.ts';
import type { MutexSettings } from './options.ts';
import { startWatchdog } from './watchdog.ts';

/** What a section gets: the proof that it owns its lock, and word when it no longer does. */
export interface Held {
  /** Aborts with a `LockLostError` when ownership is lost. Quiet while the event loop hangs: see `assertHeld`. */
  readonly signal: AbortSignal;
  /** Redis' time in µs at the acquisition; grows from one acquisition of a key to the next. */
  readonly fence: number;
  /**
   * Goes before every call that cannot be taken back. Asks no server, only both local clocks.
   * @throws LockLostError
   */
  assertHeld(): void;
  /** What is left until the local deadline; 0 when the lock is not held. */
  remainingMs(): number;
  /** Unlocks this acquisition and no later one, so `await using held = await mutex.acquire()` works. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** One acquisition, from its grant to its release. A loss is final, whatever Redis says later. */
export class Acquisition implements Held {
  readonly fence: number;
  readonly token: string;
  readonly #settings: MutexSettings;
  readonly #scripts: LockScripts;
  readonly #lease: Lease;
  readonly #endWatch: () => void;
  readonly #onDispose: (acquisition: Acquisition) => Promise<unknown>;
  #loss: LossReason | undefined;
  #abort: AbortController | undefined;

  constructor(
    settings: MutexSettings,
    scripts: LockScripts,
    grant: Grant,
    onDispose: (acquisition: Acquisition) => Promise<unknown>,
  ) {
    this.fence = grant.fence;
    this.token = grant.token;
    this.#settings = settings;
    this.#scripts = scripts;
    this.#onDispose = onDispose;
    this.#lease = new Lease(settings.expireMs, grant.sentAt);
    this.#endWatch = startWatchdog({
      lease: this.#lease,
      intervalMs: settings.intervalMs,
      maxHoldMs: settings.maxHoldMs,
      extend: () => scripts.extend(grant.token, settings.expireMs),
      onLost: (reason) => this.#lose(reason),
      onFailure: (error) => this.#warn({ err: error }, 'lock not renewed, trying again'),
    });
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#loss !== undefined && this.#loss !== 'released')
        this.#abort.abort(this.#lossError(this.#loss));
    }
    return this.#abort.signal;
  }

  assertHeld(): void {
    const loss = this.lossReason();
    if (loss !== undefined) throw this.#lossError(loss);
  }

  remainingMs(): number {
    return this.lossReason() === undefined ? this.#lease.remainingMs() : 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#onDispose(this);
  }

  /** Looks at the clocks, so it knows of a missed deadline before any timer does. */
  lossReason(): LossReason | undefined {
    if (this.#loss === undefined && this.#lease.remainingMs() <= 0) this.#lose('deadline');
    return this.#loss;
  }

  /**
   * Ends the watch and gives the key back, if it is still this acquisition's. `unanswered`: Redis could not be
   * told, and the key expires by itself. Never throws.
   */
  async release(): Promise<ReleaseAnswer | 'unanswered'> {
    this.#endWatch();
    this.#loss ??= 'released';
    try {
      return await this.#scripts.release(this.token);
    } catch {
      return await this.#releaseAgain();
    }
  }

  async #releaseAgain(): Promise<ReleaseAnswer | 'unanswered'> {
    try {
      const answer = await this.#scripts.release(this.token);
      // Gone may mean that the first release was executed and only its reply lost.
      return answer === 'expired' ? 'unanswered' : answer;
    } catch (error) {
      this.#warn({ err: error }, 'lock not released, it will expire');
      return 'unanswered';
    }
  }

  #lose(reason: LossReason): void {
    if (this.#loss !== undefined) return;
    this.#loss = reason;
    this.#endWatch();
    this.#warn({ reason }, 'lock lost');
    this.#abort?.abort(this.#lossError(reason));
  }

  #lossError(reason: LossReason): LockLostError {
    return new LockLostError(this.#settings.key, reason, this.fence);
  }

  #warn(fields: object, message: string): void {
    this.#settings.logger.warn({ lockKey: this.#settings.key, fence: this.fence, ...fields }, message);
  }
}
