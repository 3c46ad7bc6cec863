import { type LockClient, RELEASES_CHANNEL } from './lock-scripts.ts';

/** One waiter's place, from before its first attempt until it has the lock or gives up. */
export interface Place {
  /** True if others on this connection wait for the same key. */
  othersWait(): boolean;
  /**
   * Asks for announcements of releases. True if that is new: something may have been released just before, so
   * the caller tries once more before it sleeps.
   */
  listen(): boolean;
  /** Ends after the time, or at once when a release is (or was, since the last attempt) announced. */
  sleep(forMs: number, signal: AbortSignal | undefined): Promise<void>;
  /** A place that was woken and leaves without the lock hands the chance on. */
  leave(granted: boolean): void;
}

/**
 * Who waits on one connection, by key, first come first. An announced release wakes one of them, not all: the
 * others would only find the lock busy again. Announcements are hints; a waiter that gets none tries again when
 * the holder's lease should have ended.
 */
export class WaitingLine {
  readonly #redis: LockClient;
  readonly #keyPrefix: string;
  readonly #waiters = new Map<string, Set<Waiter>>();
  #listening = false;

  static of(redis: LockClient): WaitingLine {
    const line = lines.get(redis) ?? new WaitingLine(redis);
    lines.set(redis, line);
    return line;
  }

  private constructor(redis: LockClient) {
    this.#redis = redis;
    this.#keyPrefix = redis.options.keyPrefix ?? '';
  }

  join(key: string): Place {
    const announced = this.#keyPrefix + key;
    const waiters = this.#waiters.get(announced) ?? new Set();
    this.#waiters.set(announced, waiters);
    const waiter = new Waiter();
    waiters.add(waiter);
    return {
      othersWait: () => waiters.size > 1,
      listen: () => this.#listen(),
      sleep: (forMs, signal) => waiter.sleep(forMs, signal),
      leave: (granted) => {
        waiters.delete(waiter);
        if (waiters.size === 0 && this.#waiters.get(announced) === waiters) this.#waiters.delete(announced);
        if (waiter.woken && !granted) this.#wakeOne(announced);
      },
    };
  }

  #listen(): boolean {
    if (this.#listening || !canListen(this.#redis)) return false;
    this.#listening = true;
    this.#redis.removeListener('message', this.#onMessage);
    this.#redis.on('message', this.#onMessage);
    // ioredis subscribes again after a reconnect. Refused or unanswered: the next waiter asks again.
    this.#redis.subscribe(RELEASES_CHANNEL).catch(() => {
      this.#listening = false;
    });
    return true;
  }

  readonly #onMessage = (channel: string, key: string): void => {
    if (channel === RELEASES_CHANNEL) this.#wakeOne(key);
  };

  #wakeOne(key: string): void {
    for (const waiter of this.#waiters.get(key) ?? []) {
      if (waiter.woken) continue;
      waiter.wake();
      return;
    }
  }
}

const lines = new WeakMap<LockClient, WaitingLine>();

/** Only RESP3 carries announcements and replies on one connection; under RESP2 a SUBSCRIBE would end all else. */
function canListen(redis: LockClient): boolean {
  if (redis.isCluster || !('condition' in redis)) return false;
  return (redis.condition as { protocol?: number } | null)?.protocol === 3;
}

class Waiter {
  woken = false;
  #alarm: (() => void) | undefined;

  wake(): void {
    this.woken = true;
    this.#alarm?.();
  }

  async sleep(forMs: number, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (!this.woken) await this.#alarmOrTime(forMs, signal);
    this.woken = false;
  }

  #alarmOrTime(forMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#alarm = undefined;
      };
      const onAbort = () => {
        done();
        reject(signal?.reason);
      };
      this.#alarm = () => {
        done();
        resolve();
      };
      const timer = setTimeout(this.#alarm, forMs);
      signal?.addEventListener('abort', onAbort);
    });
  }
}
