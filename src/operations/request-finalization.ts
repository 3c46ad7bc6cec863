/**
 * Accepts the wish to finalize: it is committed in Postgres before anybody is told "accepted". The job that is
 * enqueued afterwards only reminds a worker of it.
 */
import { BillingError } from '../errors.ts';
import type { EnqueuedJob, InvoiceStore, Reference, Reminders } from './ports.ts';

export interface RequestFinalizationNeeds {
  invoices: Pick<InvoiceStore, 'requestFinalization'>;
  reminders: Pick<Reminders, 'finalizeInvoice'>;
}

export type RequestFinalization = (
  reference: Reference,
  context: { actor: string },
) => Promise<
  | { kind: 'accepted'; invoiceId: string; job: EnqueuedJob }
  /** Nothing to accept: it was finalized before. */
  | { kind: 'already_finalized'; invoiceId: string }
>;

/**
 * Run twice: the same wish and, while it waits, the same job. `job` is null if Redis did not take it yet.
 * @throws BillingError `not_found`
 */
export function makeRequestFinalization(needs: RequestFinalizationNeeds): RequestFinalization {
  return async (reference, context) => {
    const wish = await needs.invoices.requestFinalization(reference, context);
    if (wish.kind === 'not_found') throw new BillingError('not_found', 'there is no such invoice');
    if (wish.kind === 'already_finalized') return { kind: 'already_finalized', invoiceId: wish.invoiceId };
    const job = await needs.reminders.finalizeInvoice(wish.invoiceId);
    return { kind: 'accepted', invoiceId: wish.invoiceId, job };
  };
}
