/** One moment on both of this machine's clocks. */
export interface Instant {
  monotonicMs: number;
  wallMs: number;
}

export function instant(): Instant {
  return { monotonicMs: performance.now(), wallMs: Date.now() };
}

/** The local deadline comes earlier than Redis' expiry by this part of the lease, since clocks drift. */
const MARGIN_PART = 0.05;

/**
 * The holder's own idea of how long the key is certainly there: counted from *before* the command was sent, so
 * Redis can only expire it later. Both clocks must agree that time is left: the monotonic one stands still while
 * the machine sleeps, and the wall clock can be set.
 */
export class Lease {
  readonly #lengthMs: number;
  #from: Instant;

  constructor(expireMs: number, sentAt: Instant) {
    this.#lengthMs = expireMs - Math.ceil(expireMs * MARGIN_PART);
    this.#from = sentAt;
  }

  renew(sentAt: Instant): void {
    this.#from = sentAt;
  }

  /** 0 once the deadline has passed on either clock. */
  remainingMs(): number {
    const now = instant();
    const passedMs = Math.max(now.monotonicMs - this.#from.monotonicMs, now.wallMs - this.#from.wallMs);
    return Math.max(0, this.#lengthMs - passedMs);
  }
}
