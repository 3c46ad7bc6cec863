/**
 * Every job once: its queue, payload, identity and patience. Payloads hold ids and nothing else, since they lie in
 * Redis in clear text and grow stale; whatever a job needs to know, it reads from Postgres.
 */
import { z } from 'zod';

export const QUEUES = ['billing', 'payments', 'mail'] as const;
export type QueueName = (typeof QUEUES)[number];

export interface JobDefinition<Payload> {
  name: string;
  queue: QueueName;
  payload: z.ZodType<Payload>;
  /** One waiting job per subject: a second reminder of the same row is swallowed. Colons are refused by BullMQ. */
  deduplicationId: (payload: Payload) => string;
  /** How often a job is tried whose failure may heal by itself. Waiting for a lock is no attempt. */
  attempts: number;
  backoff: { delayMs: number; delayMaxMs: number; jitter: number };
}

const RETRY_BACKOFF = { delayMs: 1_000, delayMaxMs: 60_000, jitter: 0.5 };

export const finalizeInvoiceJob = defineJob({
  name: 'finalize-invoice',
  queue: 'billing',
  payload: z.strictObject({ invoiceId: z.uuid() }),
  deduplicationId: ({ invoiceId }) => `finalize-invoice-${invoiceId}`,
  attempts: 5,
  backoff: RETRY_BACKOFF,
});

export const sendMailJob = defineJob({
  name: 'send-mail',
  queue: 'mail',
  payload: z.strictObject({ emailId: z.uuid() }),
  deduplicationId: ({ emailId }) => `send-mail-${emailId}`,
  attempts: 10,
  backoff: RETRY_BACKOFF,
});

function defineJob<Payload>(job: JobDefinition<Payload>): JobDefinition<Payload> {
  return job;
}
