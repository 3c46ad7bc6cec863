import type { JobDefinition } from '../jobs/catalog.ts';

/** The name of our strategy in a job's options; workers carry it out. */
export const BACKOFF_TYPE = 'catalog';

/** Doubling from the catalogue's delay up to its ceiling, less a random part so that failures do not march in step. */
export function backoffDelayMs(
  backoff: JobDefinition<unknown>['backoff'],
  attemptsMade: number,
  random: () => number = Math.random,
): number {
  const full = Math.min(backoff.delayMs * 2 ** Math.max(0, attemptsMade - 1), backoff.delayMaxMs);
  return Math.round(full * (1 - backoff.jitter * random()));
}
