/**
 * What a lock can say besides yes. Each error has a stable `code`, so that an edge needs no `instanceof`.
 * Being busy is a state of the world, not a fault: a job that meets it comes back later.
 */

/** Somebody else holds the lock, and the caller did not want to wait. */
export class LockBusyError extends Error {
  override readonly name: string = 'LockBusyError';
  readonly code = 'lock_busy';
  readonly key: string;
  /** What was left of the holder's lease when Redis answered; it is renewed while its section runs. */
  readonly remainingMs: number | null;
  /** Host, process and job of the holder; null where the key was not written by a mutex. */
  readonly heldBy: string | null;

  constructor(key: string, remainingMs: number | null, heldBy: string | null) {
    super(`Lock ${key} is busy: ${describeHolder(remainingMs, heldBy)}`);
    this.key = key;
    this.remainingMs = remainingMs;
    this.heldBy = heldBy;
  }
}

/** Somebody else held the lock for as long as the caller was willing to wait. */
export class LockTimeoutError extends Error {
  override readonly name: string = 'LockTimeoutError';
  readonly code = 'lock_timeout';
  readonly key: string;
  readonly timeoutMs: number;
  readonly remainingMs: number | null;
  readonly heldBy: string | null;

  constructor(key: string, timeoutMs: number, remainingMs: number | null, heldBy: string | null) {
    super(`Lock ${key} was not free within ${timeoutMs} ms: ${describeHolder(remainingMs, heldBy)}`);
    this.key = key;
    this.timeoutMs = timeoutMs;
    this.remainingMs = remainingMs;
    this.heldBy = heldBy;
  }
}

/**
 * Why a section no longer owns its lock:
 * `deadline`: the lease ran out by the holder's own clocks; `expired`: Redis has no such key any more;
 * `stolen`: the key belongs to another acquisition; `max-hold`: the section ran for longer than `maxHoldMs`;
 * `released`: it was unlocked; `not-held`: nothing was ever locked.
 */
export type LossReason = 'deadline' | 'expired' | 'stolen' | 'max-hold' | 'released' | 'not-held';

/** The section does not own its lock; whatever cannot be taken back must not be done under it. */
export class LockLostError extends Error {
  override readonly name: string = 'LockLostError';
  readonly code = 'lock_lost';
  readonly key: string;
  readonly reason: LossReason;
  readonly fence: number | null;

  constructor(key: string, reason: LossReason, fence: number | null = null) {
    super(`Lock ${key} is not held: ${LOSSES[reason]}`);
    this.key = key;
    this.reason = reason;
    this.fence = fence;
  }
}

/** `lock` was called on an instance that holds, or is just acquiring, its lock. A mistake in the program. */
export class LockInUseError extends Error {
  override readonly name: string = 'LockInUseError';
  readonly code = 'lock_in_use';
  readonly key: string;

  constructor(key: string) {
    super(`This mutex already has an acquisition of ${key}; unlock it first, or make another instance`);
    this.key = key;
  }
}

const LOSSES: Record<LossReason, string> = {
  deadline: 'its lease was not renewed in time',
  expired: 'its key is gone from Redis',
  stolen: 'its key belongs to another holder',
  'max-hold': 'the section ran for longer than maxHoldMs',
  released: 'it was unlocked',
  'not-held': 'it was never locked',
};

function describeHolder(remainingMs: number | null, heldBy: string | null): string {
  const holder = heldBy === null ? 'held by an unknown holder' : `held by ${heldBy}`;
  return remainingMs === null ? `${holder}, without an expiry` : `${holder}, expires in ${remainingMs} ms`;
}
