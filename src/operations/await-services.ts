/** At start: waits for what a process cannot do without, and only warns about the rest. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isBillingError } from '../errors.ts';
import type { ServiceCheck } from './check-readiness.ts';
import type { Log } from './ports.ts';

const PATIENCE_MS = 30_000;
const RETRY_DELAY_MIN_MS = 500;
const RETRY_DELAY_MAX_MS = 5_000;

/** @throws BillingError `unavailable` for a required service that did not come within 30 s; others as they are */
export async function awaitServices(services: readonly ServiceCheck[], log: Log): Promise<void> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  await Promise.all(
    services.map((service) =>
      service.required ? awaitRequired(service, deadlineMs, log) : warnIfAway(service, log),
    ),
  );
}

async function awaitRequired(service: ServiceCheck, deadlineMs: number, log: Log): Promise<void> {
  for (let delayMs = RETRY_DELAY_MIN_MS; ; delayMs = Math.min(delayMs * 2, RETRY_DELAY_MAX_MS)) {
    try {
      return await service.check();
    } catch (error) {
      if (!isBillingError(error, 'unavailable') || performance.now() + delayMs > deadlineMs) throw error;
      if (delayMs === RETRY_DELAY_MIN_MS)
        log.warn({ service: service.name }, `${error.message}; trying again for ${PATIENCE_MS / 1000} s`);
      await sleep(delayMs);
    }
  }
}

async function warnIfAway(service: ServiceCheck, log: Log): Promise<void> {
  try {
    await service.check();
  } catch (error) {
    if (!isBillingError(error)) throw error;
    log.warn({ service: service.name }, `${error.message}; starting without it`);
  }
}
