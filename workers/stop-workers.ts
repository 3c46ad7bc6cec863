import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from '../src/bullmq/worker.ts';

/** Longer than a gateway call may take: a capture that is under way gets its answer settled. */
const GRACE_MS = 35_000;
/** After the call was aborted, its outcome is still written down as unknown. */
const CANCEL_GRACE_MS = 5_000;

/**
 * Takes no more jobs, waits for those under way, then cancels, then lets go. What was cut off stays resolvable: its
 * row says how far it got, and another worker picks the job up.
 */
export async function stopWorkers(workers: readonly Worker[]): Promise<'clean' | 'forced'> {
  const closing = Promise.allSettled(workers.map((worker) => worker.close())).then(() => 'closed' as const);
  if ((await Promise.race([closing, sleep(GRACE_MS)])) === 'closed') return 'clean';
  for (const worker of workers) worker.cancelAllJobs('the worker is stopping');
  if ((await Promise.race([closing, sleep(CANCEL_GRACE_MS)])) === 'closed') return 'forced';
  await Promise.race([
    Promise.allSettled(workers.map((worker) => worker.close(true))),
    sleep(CANCEL_GRACE_MS),
  ]);
  return 'forced';
}
