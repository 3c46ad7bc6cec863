import { setTimeout as delay } from 'node:timers/promises';
import { LockBusyError, LockTimeoutError } from './errors.ts';
import { type Instant, instant, Lease } from './lease.ts';
import { type AcquireAnswer, isRefusal, type LockScripts } from './lock-scripts.ts';
import { newToken } from './lock-value.ts';
import { WAIT_FOR_EVER } from './options.ts';
import type { Place, WaitingLine } from './waiting-line.ts';

interface ObtainRequest {
  scripts: LockScripts;
  line: WaitingLine;
  key: string;
  owner: string;
  expireMs: number;
  timeoutMs: number;
  signal: AbortSignal | undefined;
  /** Called with a token that Redis may have stored, or may yet store, though nobody will use it. */
  onAbandoned(token: string): void;
}

export interface Grant {
  token: string;
  fence: number;
  /** From before the acquire was sent; the lease is counted from here. */
  sentAt: Instant;
}

/** A waiter looks again after this long at the latest, whatever the holder's lease. */
const SLEEP_MAX_MS = 2_000;
/** Spreads those who wait for one expiry. */
const SLEEP_JITTER_MS = 25;
/** After a lost reply, or while the connection is being made again. */
const RESEND_DELAY_MS = 150;
/** For a caller that does not wait: one attempt, and another if the first had no answer. */
const SENDS_MAX = 2;

/**
 * Asks until it is granted, the time is up, or the signal aborts. Every attempt carries the same token, so one
 * whose reply was lost does not lock its own sender out. Somebody who waits bears an unreachable Redis for as
 * long as a lease; after that there is more wrong than a busy lock.
 *
 * @throws LockBusyError (time-out 0), LockTimeoutError, the signal's reason, or the client's error
 */
export async function obtainLock(request: ObtainRequest): Promise<Grant> {
  const { timeoutMs, signal } = request;
  const token = newToken();
  const place = timeoutMs === 0 ? undefined : request.line.join(request.key);
  const endsAtMs = timeoutMs === WAIT_FOR_EVER ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs;
  let granted = false;
  let inDoubt = false;
  let unanswered = 0;
  let failingSinceMs: number | undefined;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const sentAt = instant();
      inDoubt = true;
      const answer = await ask(request, token, sentAt, place);

      if (answer.kind === 'acquired') {
        granted = true;
        return { token, fence: answer.fence, sentAt };
      }
      if (answer.kind === 'busy') {
        // An earlier attempt without an answer may still arrive there.
        inDoubt = unanswered > 0;
        failingSinceMs = undefined;
        await waitForRelease(request, place, answer, endsAtMs);
      } else {
        unanswered += 1;
        failingSinceMs ??= sentAt.monotonicMs;
        const bearsUntilMs =
          timeoutMs === 0 ? endsAtMs : Math.min(failingSinceMs + request.expireMs, endsAtMs);
        const sendsLeft = timeoutMs === 0 && unanswered < SENDS_MAX;
        if (!sendsLeft && performance.now() >= bearsUntilMs) throw answer.error;
        await pause(RESEND_DELAY_MS, signal);
      }
    }
  } finally {
    place?.leave(granted);
    if (inDoubt && !granted) request.onAbandoned(token);
  }
}

async function ask(
  { scripts, expireMs, owner, signal }: ObtainRequest,
  token: string,
  sentAt: Instant,
  place: Place | undefined,
): Promise<AcquireAnswer | { kind: 'no-answer'; error: unknown }> {
  const othersWait = place?.othersWait() ?? false;
  try {
    const reply = scripts.acquire({ token, expireMs, owner, willWait: place !== undefined, othersWait });
    const answer = await (signal === undefined ? reply : unlessAborted(reply, signal));
    const tooLate = answer.kind === 'acquired' && new Lease(expireMs, sentAt).remainingMs() <= 0;
    return tooLate
      ? { kind: 'no-answer', error: new Error('Redis answered after the lease had ended') }
      : answer;
  } catch (error) {
    if (signal?.aborted || isRefusal(error)) throw error;
    return { kind: 'no-answer', error };
  }
}

async function waitForRelease(
  { key, timeoutMs, signal }: ObtainRequest,
  place: Place | undefined,
  { remainingMs, heldBy }: AcquireAnswer & { kind: 'busy' },
  endsAtMs: number,
): Promise<void> {
  if (place === undefined) throw new LockBusyError(key, remainingMs, heldBy);
  const timeLeftMs = endsAtMs - performance.now();
  if (timeLeftMs <= 0) throw new LockTimeoutError(key, timeoutMs, remainingMs, heldBy);
  if (place.listen()) return;
  const untilExpiryMs = Math.min(remainingMs ?? SLEEP_MAX_MS, SLEEP_MAX_MS);
  const sleepMs = untilExpiryMs + 1 + Math.random() * SLEEP_JITTER_MS;
  // Rounded up, so that the last attempt comes after the end and not a hair before it.
  await place.sleep(Math.ceil(Math.min(sleepMs, timeLeftMs)), signal);
}

async function unlessAborted<T>(reply: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([reply, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}

async function pause(forMs: number, signal: AbortSignal | undefined): Promise<void> {
  await delay(forMs, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted());
}
