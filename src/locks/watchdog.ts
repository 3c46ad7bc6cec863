import type { LossReason } from './errors.ts';
import { instant, type Lease } from './lease.ts';
import type { ExtendAnswer } from './lock-scripts.ts';

interface WatchdogDuty {
  lease: Lease;
  intervalMs: number;
  maxHoldMs: number;
  extend(): Promise<ExtendAnswer>;
  /** Called once at most, and then nothing more. */
  onLost(reason: LossReason): void;
  /** One renewal failed; it is tried again until the local deadline. */
  onFailure(error: unknown): void;
}

/** Renewals that failed are repeated after this part of the interval. */
const RETRY_PART = 0.2;

/**
 * Renews a lease while its section runs: one renewal in flight, and an end by the local deadline that needs no
 * answer from Redis. Its timers never keep a process alive, and it runs on the main loop on purpose: a loop that
 * hangs must lose its lock.
 *
 * @returns the function that ends it; silent afterwards, and without a timer
 */
export function startWatchdog(duty: WatchdogDuty): () => void {
  const { lease, intervalMs, maxHoldMs } = duty;
  const startedAtMs = performance.now();
  let ended = false;
  let beat: NodeJS.Timeout | undefined;
  let deadline: NodeJS.Timeout | undefined;
  let replyLimit: NodeJS.Timeout | undefined;

  scheduleIn(intervalMs);
  return end;

  function scheduleIn(delayMs: number): void {
    const holdLeftMs = startedAtMs + maxHoldMs - performance.now();
    beat = setTimeout(() => void onBeat(), Math.max(0, Math.min(delayMs, Math.ceil(holdLeftMs))));
    beat.unref();
  }

  async function onBeat(): Promise<void> {
    // The clocks come first: a process that was frozen past its lease must not touch the key again.
    if (lease.remainingMs() <= 0) return lose('deadline');
    if (performance.now() - startedAtMs >= maxHoldMs) return lose('max-hold');
    watchDeadline();

    const sentAt = instant();
    const answer = await renew();
    if (ended) return;
    if (answer === 'failed') return scheduleIn(intervalMs * RETRY_PART);
    if (answer !== 'extended') return lose(answer);

    lease.renew(sentAt);
    if (lease.remainingMs() <= 0) return lose('deadline');
    clearTimeout(deadline);
    deadline = undefined;
    scheduleIn(intervalMs - (performance.now() - sentAt.monotonicMs));
  }

  /** Stands from the first renewal sent until one succeeds. */
  function watchDeadline(): void {
    if (deadline !== undefined) return;
    deadline = setTimeout(() => lose('deadline'), lease.remainingMs());
    deadline.unref();
  }

  async function renew(): Promise<ExtendAnswer | 'failed'> {
    const overdue = new Promise<never>((_, reject) => {
      const onOverdue = () => reject(new Error(`No reply within ${intervalMs} ms`));
      replyLimit = setTimeout(onOverdue, intervalMs).unref();
    });
    try {
      return await Promise.race([duty.extend(), overdue]);
    } catch (error) {
      if (!ended) duty.onFailure(error);
      return 'failed';
    } finally {
      clearTimeout(replyLimit);
    }
  }

  function lose(reason: LossReason): void {
    if (ended) return;
    end();
    duty.onLost(reason);
  }

  function end(): void {
    ended = true;
    clearTimeout(beat);
    clearTimeout(deadline);
    clearTimeout(replyLimit);
  }
}
