import { LockBusyError, LockInUseError, LockLostError, type LossReason } from './errors.ts';
import { Acquisition, type Held } from './held.ts';
import { type LockScripts, lockScripts } from './lock-scripts.ts';
import { ownerOf, parseLockValue } from './lock-value.ts';
import { obtainLock } from './obtain-lock.ts';
import { checkMutexOptions, checkTimeout, type MutexSettings, type RedisMutexOptions } from './options.ts';
import { WaitingLine } from './waiting-line.ts';

export interface LockOptions {
  /** How long to wait; −1 for ever, 0 not at all. Default: the mutex's own `timeoutMs`. */
  timeoutMs?: number;
  /** Ends the waiting, not the section. */
  signal?: AbortSignal;
}

/**
 * `expired` also where Redis could not be told: the lease is not renewed any more, and the key goes by itself.
 * `stolen`: another acquisition has the key, and it was left alone.
 */
export type UnlockResult = 'released' | 'expired' | 'stolen' | 'not-held';

/**
 * A lock in Redis that excludes live holders in other processes. It saves work and spares the gateway; it
 * guarantees nothing by itself (a frozen process, a failover and a stepped clock all break it), so what it
 * protects needs a constraint as well. One acquisition per instance at a time; instances are cheap.
 */
export class RedisMutex {
  readonly #settings: MutexSettings;
  readonly #owner: string;
  readonly #scripts: LockScripts;
  #acquiring = false;
  #held: Acquisition | undefined;
  /** The acquisition that `signal` and `assertHeld` speak of: the present one, or else the last. */
  #latest: Acquisition | undefined;
  /** A release on its way for an attempt that was given up. */
  #abandoned: Promise<unknown> | undefined;

  /** @throws BillingError `invalid` whose faults name every bad option */
  constructor(options: RedisMutexOptions) {
    this.#settings = checkMutexOptions(options);
    this.#owner = ownerOf(options.owner);
    this.#scripts = lockScripts(options.redis, options.key, this.#settings.expireMs);
  }

  /**
   * Locks, waiting for its turn; the lease is renewed until `unlock`.
   * @throws LockTimeoutError, or LockBusyError with a time-out of 0; LockInUseError if this instance has it already;
   * the signal's reason; the client's error if Redis cannot be reached
   */
  async lock(options: LockOptions = {}): Promise<void> {
    await this.#obtain(options);
  }

  /** True if it was free and is ours now. False at once if it is held, by this instance or by anybody else. */
  async tryLock(): Promise<boolean> {
    if (this.#acquiring || this.#held !== undefined) return false;
    try {
      await this.#obtain({ timeoutMs: 0 });
      return true;
    } catch (error) {
      if (error instanceof LockBusyError) return false;
      throw error;
    }
  }

  /** Never throws; a second call answers `not-held`. */
  async unlock(): Promise<UnlockResult> {
    if (this.#abandoned !== undefined) await this.#abandoned;
    if (this.#held === undefined) return 'not-held';
    const answer = await this.#release(this.#held);
    return answer === 'unanswered' ? 'expired' : answer;
  }

  /**
   * Locks, runs the section, unlocks. A section that takes no notice of its abort at `maxHoldMs` is left to
   * itself one lease later.
   * @throws what `lock` throws; what the section throws; LockLostError if ownership was lost though it resolved
   */
  async synchronize<T>(section: (held: Held) => T | Promise<T>, options: LockOptions = {}): Promise<T> {
    const held = await this.#obtain(options);
    let value: T;
    let loss: LossReason | undefined;
    try {
      value = await this.#unlessHung(section, held);
      loss = held.lossReason();
    } catch (error) {
      await this.#release(held);
      throw error;
    }
    const answer = await this.#release(held);
    if (loss === undefined && (answer === 'expired' || answer === 'stolen')) loss = answer;
    // A section may unlock early.
    if (loss !== undefined && loss !== 'released')
      throw new LockLostError(this.#settings.key, loss, held.fence);
    return value;
  }

  /** Whether anybody holds it, as Redis sees it now. */
  async isLocked(): Promise<boolean> {
    return (await this.#settings.redis.exists(this.#settings.key)) === 1;
  }

  /** Whether this instance's present acquisition holds it, as Redis sees it now. */
  async isSelfLocked(): Promise<boolean> {
    if (this.#held === undefined) return false;
    const value = await this.#settings.redis.get(this.#settings.key);
    return value !== null && parseLockValue(value)?.token === this.#held?.token;
  }

  /** `lock`, answering with the acquisition. */
  async acquire(options: LockOptions = {}): Promise<Held> {
    return await this.#obtain(options);
  }

  /** `unlock`. */
  async release(): Promise<UnlockResult> {
    return await this.unlock();
  }

  /** `synchronize` without waiting. @throws LockBusyError */
  async withLock<T>(
    section: (held: Held) => T | Promise<T>,
    options: Omit<LockOptions, 'timeoutMs'> = {},
  ): Promise<T> {
    return await this.synchronize(section, { ...options, timeoutMs: 0 });
  }

  /** `held.assertHeld` of the present acquisition. @throws LockLostError */
  assertHeld(): void {
    if (this.#latest === undefined) throw new LockLostError(this.#settings.key, 'not-held');
    this.#latest.assertHeld();
  }

  /** `held.signal` of the present acquisition, or else of the last; aborted before there is one. */
  get signal(): AbortSignal {
    return this.#latest?.signal ?? AbortSignal.abort(new LockLostError(this.#settings.key, 'not-held'));
  }

  async #obtain({ timeoutMs = this.#settings.timeoutMs, signal }: LockOptions): Promise<Acquisition> {
    const { redis, key, expireMs, logger } = this.#settings;
    if (timeoutMs !== this.#settings.timeoutMs) checkTimeout(timeoutMs);
    if (this.#acquiring || this.#held !== undefined) throw new LockInUseError(key);
    this.#acquiring = true;
    try {
      if (this.#abandoned !== undefined) await this.#abandoned;
      const grant = await obtainLock({
        scripts: this.#scripts,
        line: WaitingLine.of(redis),
        key,
        owner: this.#owner,
        expireMs,
        timeoutMs,
        signal,
        onAbandoned: (token) => this.#giveBack(token),
      });
      this.#held = new Acquisition(this.#settings, this.#scripts, grant, (held) => this.#release(held));
      this.#latest = this.#held;
      logger.debug({ lockKey: key, fence: grant.fence }, 'lock acquired');
      return this.#held;
    } finally {
      this.#acquiring = false;
    }
  }

  /** Sent right behind the attempt on the same connection, so it arrives after it. */
  #giveBack(token: string): void {
    const { key, logger } = this.#settings;
    const onError = (error: unknown) =>
      logger.debug({ lockKey: key, err: error }, 'abandoned lock will expire');
    const done = this.#scripts.release(token).catch(onError);
    this.#abandoned = done.finally(() => {
      this.#abandoned = undefined;
    });
  }

  async #release(held: Acquisition) {
    if (this.#held !== held) return 'not-held' as const;
    this.#held = undefined;
    const answer = await held.release();
    this.#settings.logger.debug({ lockKey: this.#settings.key, fence: held.fence, answer }, 'lock released');
    return answer;
  }

  /** A section that ignores its abort would keep its caller for ever. */
  async #unlessHung<T>(section: (held: Held) => T | Promise<T>, held: Acquisition): Promise<T> {
    const { key, maxHoldMs, expireMs } = this.#settings;
    let timer: NodeJS.Timeout | undefined;
    const hung = new Promise<never>((_, reject) => {
      const giveUp = () => reject(new LockLostError(key, 'max-hold', held.fence));
      timer = setTimeout(giveUp, maxHoldMs + expireMs).unref();
    });
    try {
      return await Promise.race([Promise.resolve(section(held)), hung]);
    } finally {
      clearTimeout(timer);
    }
  }
}
