import type { App } from '../src/app.ts';
import { handle } from '../src/bullmq/worker.ts';
import { finalizeInvoiceJob } from '../src/jobs/catalog.ts';

/** Finalizes one invoice: number, capture, settlement, and the reminder of its receipt. */
export function startInvoiceFinalizer(app: App) {
  return app.startWorker({
    name: 'InvoiceFinalizer',
    queue: 'billing',
    concurrency: app.config.worker.concurrency,
    handlers: [handle(finalizeInvoiceJob, app.finalizeInvoice())],
  });
}
