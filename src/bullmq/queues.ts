import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { type JobDefinition, QUEUES, type QueueName } from '../jobs/catalog.ts';
import { BACKOFF_TYPE } from './backoff.ts';

const DAY_SECONDS = 24 * 60 * 60;
/** Finished jobs are kept to be looked at; what happened for good stands in the invoice's trail. */
const KEEP_COMPLETED = { age: DAY_SECONDS, count: 10_000 };
const KEEP_FAILED = { age: 30 * DAY_SECONDS, count: 100_000 };

export interface Queues {
  byName: Readonly<Record<QueueName, Queue>>;
  /** At most one waiting job per subject. Run twice: the second answers with the first one's id. */
  add<Payload>(job: JobDefinition<Payload>, payload: Payload): Promise<{ queue: QueueName; id: string }>;
  close(): Promise<void>;
}

export function openQueues({ redis, prefix }: { redis: Redis; prefix: string }): Queues {
  const open = (name: QueueName) => new Queue(name, { connection: redis, prefix, skipWaitingForReady: true });
  const byName = Object.fromEntries(QUEUES.map((name) => [name, open(name)])) as Record<QueueName, Queue>;
  for (const queue of Object.values(byName)) queue.on('error', ignoreReportedByConnection);

  return {
    byName,
    async add(job, payload) {
      const added = await byName[job.queue].add(job.name, payload, {
        attempts: job.attempts,
        backoff: { type: BACKOFF_TYPE },
        deduplication: { id: job.deduplicationId(payload) },
        removeOnComplete: KEEP_COMPLETED,
        removeOnFail: KEEP_FAILED,
      });
      return { queue: job.queue, id: String(added.id) };
    },
    async close() {
      await Promise.allSettled(Object.values(byName).map((queue) => queue.close()));
    },
  };
}

/** The shared connection says once that it is away; each queue would repeat it. */
function ignoreReportedByConnection(): void {}
