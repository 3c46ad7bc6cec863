import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LossReason } from '../../src/locks/errors.ts';
import { instant, Lease } from '../../src/locks/lease.ts';
import type { ExtendAnswer } from '../../src/locks/lock-scripts.ts';
import { startWatchdog } from '../../src/locks/watchdog.ts';

const EXPIRE_MS = 9_000;
const INTERVAL_MS = 3_000;
/** The lease less its margin of a twentieth. */
const DEADLINE_MS = 8_550;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

describe('the watchdog', () => {
  test('renews once per interval, counted from the sending', async () => {
    const { sentAtMs } = watch(async () => {
      await passed(500);
      return 'extended';
    });
    await vi.advanceTimersByTimeAsync(12_600);
    expect(sentAtMs).toEqual([3_000, 6_000, 9_000, 12_000]);
  });

  test('never has two renewals in flight', async () => {
    let inFlight = 0;
    let most = 0;
    watch(async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await passed(2_900);
      inFlight -= 1;
      return 'extended';
    });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(most).toBe(1);
  });

  test('stays held for as long as renewals succeed', async () => {
    const { losses } = watch(async () => 'extended');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(losses).toEqual([]);
  });

  test('tries again after an error, and is content when one succeeds', async () => {
    const answers: (() => Promise<ExtendAnswer>)[] = [fails, fails, fails];
    const { sentAtMs, losses, failures } = watch(() => answers.shift()?.() ?? Promise.resolve('extended'));
    await vi.advanceTimersByTimeAsync(8_000);
    expect(sentAtMs).toEqual([3_000, 3_600, 4_200, 4_800, 7_800]);
    expect(failures).toHaveLength(3);
    expect(losses).toEqual([]);
  });

  test('gives up at the local deadline while every renewal fails', async () => {
    const { losses } = watch(fails);
    await vi.advanceTimersByTimeAsync(DEADLINE_MS - 1);
    expect(losses).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(losses).toEqual(['deadline']);
  });

  test('gives up at the local deadline while Redis says nothing at all', async () => {
    const { losses, sentAtMs } = watch(() => new Promise(() => {}));
    await vi.advanceTimersByTimeAsync(DEADLINE_MS);
    expect(losses).toEqual(['deadline']);
    // The first had its time limit; the second was under way at the deadline.
    expect(sentAtMs).toEqual([3_000, 6_600]);
  });

  test('counts the lease from before the renewal was sent', async () => {
    let slow = true;
    const { losses } = watch(async () => {
      if (!slow) return await new Promise(() => {});
      slow = false;
      await passed(2_000);
      return 'extended';
    });
    await vi.advanceTimersByTimeAsync(3_000 + DEADLINE_MS - 1);
    expect(losses).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(losses).toEqual(['deadline']);
  });

  test.each(['expired', 'stolen'] as const)('loses at once when Redis answers %s', async (answer) => {
    const { losses, sentAtMs } = watch(async () => answer);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(losses).toEqual([answer]);
    expect(sentAtMs).toEqual([3_000]);
  });

  test('sends nothing when it wakes after the lease has ended', async () => {
    const { losses, sentAtMs } = watch(async () => 'extended');
    // Frozen: the clocks go on, the timers do not.
    vi.setSystemTime(Date.now() + 3 * EXPIRE_MS);
    await vi.advanceTimersByTimeAsync(INTERVAL_MS);
    expect(losses).toEqual(['deadline']);
    expect(sentAtMs).toEqual([]);
  });

  test('does not believe a success that arrives after the lease has ended', async () => {
    const { losses } = watch(async () => {
      vi.setSystemTime(Date.now() + EXPIRE_MS);
      return 'extended';
    });
    await vi.advanceTimersByTimeAsync(INTERVAL_MS);
    expect(losses).toEqual(['deadline']);
  });

  test('ends the hold at maxHoldMs, however well renewals go', async () => {
    const { losses, sentAtMs } = watch(async () => 'extended', { maxHoldMs: 7_000 });
    await vi.advanceTimersByTimeAsync(6_999);
    expect(losses).toEqual([]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(losses).toEqual(['max-hold']);
    expect(sentAtMs).toEqual([3_000, 6_000]);
  });

  test('is silent after its end and leaves no timer', async () => {
    const { losses, sentAtMs, end } = watch(async () => 'extended');
    await vi.advanceTimersByTimeAsync(4_000);
    end();
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sentAtMs).toEqual([3_000]);
    expect(losses).toEqual([]);
  });

  test('is silent after an end during a renewal, whatever its answer', async () => {
    let answer: (value: ExtendAnswer) => void = () => {};
    const { losses, failures, end } = watch(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    await vi.advanceTimersByTimeAsync(3_500);
    end();
    answer('stolen');
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(losses).toEqual([]);
    expect(failures).toEqual([]);
  });
});

function watch(extend: () => Promise<ExtendAnswer>, { maxHoldMs = 300_000 } = {}) {
  const startMs = performance.now();
  const sentAtMs: number[] = [];
  const losses: LossReason[] = [];
  const failures: unknown[] = [];
  const end = startWatchdog({
    lease: new Lease(EXPIRE_MS, instant()),
    intervalMs: INTERVAL_MS,
    maxHoldMs,
    extend: () => {
      sentAtMs.push(performance.now() - startMs);
      return extend();
    },
    onLost: (reason) => losses.push(reason),
    onFailure: (error) => failures.push(error),
  });
  return { sentAtMs, losses, failures, end };
}

function passed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function fails(): Promise<ExtendAnswer> {
  throw new Error('no connection');
}
