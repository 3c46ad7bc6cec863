import { finalizeInvoiceJob, type JobDefinition, sendMailJob } from '../jobs/catalog.ts';
import type { EnqueuedJob, Log, Reminders } from '../operations/ports.ts';
import type { Queues } from './queues.ts';

const ENQUEUE_TIMEOUT_MS = 3_000;

/** Redis only reminds: if it is away, the row stays and is found again, so nothing is thrown. */
export function makeReminders(queues: Pick<Queues, 'add'>, log: Log): Reminders {
  return {
    finalizeInvoice: (invoiceId) => remind(finalizeInvoiceJob, { invoiceId }),
    sendMail: (emailId) => remind(sendMailJob, { emailId }),
  };

  async function remind<Payload extends object>(
    job: JobDefinition<Payload>,
    payload: Payload,
  ): Promise<EnqueuedJob> {
    try {
      return await withTimeout(queues.add(job, payload));
    } catch (error) {
      log.warn({ job: job.name, ...payload, code: errorName(error) }, 'not queued yet: Redis did not answer');
      return null;
    }
  }
}

async function withTimeout<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('timed out')), ENQUEUE_TIMEOUT_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function errorName(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 80) : 'unknown';
}
