/**
 * What all workers share: parse the payload, run one operation, translate its outcome into BullMQ's words, write
 * one log line. An operation answers with a word; only a fault that may heal by itself is an error.
 */
import { DelayedError, type Job, UnrecoverableError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { BillingError, isBillingError } from '../errors.ts';
import type { JobDefinition, QueueName } from '../jobs/catalog.ts';
import type { Log } from '../operations/ports.ts';
import { backoffDelayMs } from './backoff.ts';

/** After a kill another worker takes over within two of these; both are short so that takeovers are quick. */
const LOCK_DURATION_MS = 10_000;
const STALLED_INTERVAL_MS = 4_000;
/** The gateway answers 409 while an earlier call with the same key runs. */
const GATEWAY_KEY_BUSY_DELAY_MS = 5_000;

export type { Worker };

export interface JobContext {
  actor: string;
  jobName: string;
  signal: AbortSignal;
}

/** A job of the catalogue with the operation that does it. */
export interface JobHandler {
  job: JobDefinition<unknown>;
  run: (data: unknown, context: JobContext) => Promise<string>;
}

export interface WorkerOptions {
  name: string;
  queue: QueueName;
  concurrency: number;
  handlers: readonly JobHandler[];
  redis: Redis;
  prefix: string;
  log: Log;
  lockBusy: { delayMs: number; maxMs: number };
}

/** Binds a job to its operation; the payload is parsed again at every run, whoever edited it meanwhile. */
export function handle<Payload>(
  job: JobDefinition<Payload>,
  run: (payload: Payload, context: JobContext) => Promise<string>,
): JobHandler {
  return {
    job: job as JobDefinition<unknown>,
    run: (data, context) => {
      const parsed = job.payload.safeParse(data);
      if (parsed.success) return run(parsed.data, context);
      const fields = parsed.error.issues.map((issue) => issue.path.join('.') || 'payload').join(', ');
      throw new BillingError('invalid_payload', `the payload of ${job.name} is invalid in: ${fields}`);
    },
  };
}

/** Starts to take jobs at once. */
export function openWorker(options: WorkerOptions): Worker {
  const { log } = options;
  const handlers = new Map(options.handlers.map((handler) => [handler.job.name, handler]));
  // BullMQ hands a signal over only to a processor that declares exactly three plain parameters.
  const processor = (job: Job, token: string | undefined, signal: AbortSignal | undefined) =>
    runJob(job, token, signal ?? new AbortController().signal);
  const worker = new Worker(options.queue, processor, {
    connection: options.redis,
    prefix: options.prefix,
    concurrency: options.concurrency,
    lockDuration: LOCK_DURATION_MS,
    stalledInterval: STALLED_INTERVAL_MS,
    settings: { backoffStrategy: (attempt, _type, _error, job) => delayAfterFailure(job?.name, attempt) },
  });
  worker.on('lockRenewalFailed', (jobIds: string[]) => {
    for (const id of jobIds) worker.cancelJob(id, 'the lock of this job was lost');
  });
  worker.on('stalled', (jobId: string) =>
    log.warn({ queue: options.queue, jobId }, 'a job stalled and is run again'),
  );
  worker.on('error', (error: Error) => log.debug({ err: error }, 'worker error'));
  return worker;

  async function runJob(job: Job, token: string | undefined, signal: AbortSignal): Promise<string> {
    const startedMs = performance.now();
    const fields = () => ({
      worker: options.name,
      job: job.name,
      jobId: job.id,
      ...idsOf(job.data),
      attempt: job.attemptsMade + 1,
      durationMs: Math.round(performance.now() - startedMs),
    });
    let outcome: string;
    let delayMs: number | null;
    try {
      const handler = handlers.get(job.name);
      if (!handler) throw new BillingError('invalid_payload', `no worker knows the job ${job.name}`);
      outcome = await handler.run(job.data, { actor: `job:${job.name}`, jobName: job.name, signal });
      delayMs = await delayOf(outcome, job);
    } catch (error) {
      log.warn({ ...fields(), err: error }, `${job.name} failed`);
      throw isFinal(error) ? new UnrecoverableError(error.message) : error;
    }
    log.info({ ...fields(), outcome }, job.name);
    if (delayMs === null) return outcome;
    // Nothing may come between these two: the job is no longer ours once it has moved.
    await job.moveToDelayed(Date.now() + delayMs, token);
    throw new DelayedError();
  }

  async function delayOf(outcome: string, job: Job): Promise<number | null> {
    if (outcome === 'gateway-key-busy') return GATEWAY_KEY_BUSY_DELAY_MS;
    if (outcome !== 'lock-busy') {
      if (busySinceMs(job) !== null) await job.updateProgress({});
      return null;
    }
    const sinceMs = busySinceMs(job) ?? Date.now();
    if (Date.now() - sinceMs >= options.lockBusy.maxMs) {
      await job.updateProgress({}); // a replay starts to count anew
      throw new BillingError(
        'lock_busy_too_long',
        `the lock was busy for ${Math.round((Date.now() - sinceMs) / 1000)} s without a break`,
      );
    }
    if (busySinceMs(job) === null) await job.updateProgress({ lockBusySinceMs: sinceMs });
    return options.lockBusy.delayMs;
  }

  function delayAfterFailure(jobName: string | undefined, attemptsMade: number): number {
    const backoff = jobName ? handlers.get(jobName)?.job.backoff : undefined;
    return backoffDelayMs(backoff ?? { delayMs: 1_000, delayMaxMs: 60_000, jitter: 0.5 }, attemptsMade);
  }
}

/** To run the job again would not help: it ends, visible on the board, and may be replayed there. */
function isFinal(error: unknown): error is BillingError {
  return isBillingError(error) && ['invalid_payload', 'not_found', 'lock_busy_too_long'].includes(error.code);
}

/** When the unbroken series of busy answers began. It rides on the job, since several workers may see it. */
function busySinceMs(job: Job): number | null {
  const progress: unknown = job.progress;
  if (typeof progress !== 'object' || progress === null || !('lockBusySinceMs' in progress)) return null;
  return typeof progress.lockBusySinceMs === 'number' ? progress.lockBusySinceMs : null;
}

/** Payloads hold ids only, so they may be logged; anything else that was edited in is left out. */
function idsOf(data: unknown): Record<string, string> {
  if (typeof data !== 'object' || data === null) return {};
  const ids = Object.entries(data).filter(
    ([name, value]) => name.endsWith('Id') && typeof value === 'string',
  );
  return Object.fromEntries(ids.map(([name, value]) => [name, String(value).slice(0, 64)]));
}
