/**
 * What an invoice still needs. Every replay of a job, from whatever point the last run was killed at, starts
 * here: state in, next step out. The clock is Postgres'; what depends on it comes in as a fact (`…Due`).
 */
import type { OpenPayment } from './payment.ts';

export type InvoiceStatus = 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';
export type CollectionMethod = 'charge_automatically' | 'send_invoice';

/** An invoice as the finalizer sees it: one row with its open attempt and its unsent e-mail. */
export interface InvoiceWork {
  id: string;
  status: InvoiceStatus;
  collectionMethod: CollectionMethod;
  version: number;
  /** The version that somebody asked to finalize; null without a wish. */
  finalizeVersion: number | null;
  attemptSeq: number;
  dueMinor: bigint;
  parked: boolean;
  /** `next_attempt_at` has been reached. */
  attemptDue: boolean;
  hasPaymentMethod: boolean;
  lastAttemptDeclined: boolean;
  openPayment: OpenPayment | null;
  pendingEmailId: string | null;
  sellerName: string;
}

/** How a job may end. Each is a success: running the job again would not help. */
export type FinalizeOutcome =
  | 'paid'
  | 'open-declined'
  | 'open-unknown'
  | 'open-requires-action'
  | 'open-processing'
  | 'open-no-method'
  | 'open-send-invoice'
  | 'already-paid'
  | 'already-void'
  | 'not-due'
  | 'nothing-to-do'
  | 'parked';

export type NextStep =
  | { step: 'finalize' }
  | { step: 'start-attempt' }
  /** The attempt was written and may be sent: first look, or the same key again after a lost sender or reply. */
  | { step: 'send'; payment: OpenPayment }
  /** Only the e-mail's reminder may have been lost. */
  | { step: 'remind'; emailId: string }
  | { step: 'none'; outcome: FinalizeOutcome };

export function nextStep(invoice: InvoiceWork): NextStep {
  switch (invoice.status) {
    case 'draft':
      return nextStepOfDraft(invoice);
    case 'open':
      return nextStepOfOpen(invoice);
    case 'uncollectible':
      // No automatic attempts, but one that is under way goes on.
      return invoice.openPayment ? nextStepOfAttempt(invoice, invoice.openPayment) : none('nothing-to-do');
    case 'paid':
      return invoice.pendingEmailId
        ? { step: 'remind', emailId: invoice.pendingEmailId }
        : none('already-paid');
    case 'void':
      return none('already-void');
    default:
      return invoice.status satisfies never;
  }
}

function nextStepOfDraft(invoice: InvoiceWork): NextStep {
  if (invoice.parked) return none('parked');
  // Whoever can write to Redis may enqueue anything; only the wish in Postgres finalizes.
  return invoice.finalizeVersion === invoice.version ? { step: 'finalize' } : none('nothing-to-do');
}

function nextStepOfOpen(invoice: InvoiceWork): NextStep {
  if (invoice.parked) return none('parked');
  if (invoice.openPayment) return nextStepOfAttempt(invoice, invoice.openPayment);
  if (invoice.dueMinor <= 0n) return none('nothing-to-do');
  if (invoice.collectionMethod === 'send_invoice') return none('open-send-invoice');
  if (!invoice.hasPaymentMethod) return none('open-no-method');
  if (invoice.attemptDue) return { step: 'start-attempt' };
  return none(invoice.lastAttemptDeclined ? 'open-declined' : 'not-due');
}

function nextStepOfAttempt(invoice: InvoiceWork, payment: OpenPayment): NextStep {
  if (invoice.parked) return none('parked');
  switch (payment.status) {
    case 'created':
    case 'sent': // its sender is gone or has lost the lock
      return { step: 'send', payment };
    case 'unknown':
      return payment.checkDue && payment.keyAlive ? { step: 'send', payment } : none('open-unknown');
    case 'requires_action':
      return none('open-requires-action');
    case 'processing':
      return none('open-processing');
    default:
      return payment.status satisfies never;
  }
}

function none(outcome: FinalizeOutcome): NextStep {
  return { step: 'none', outcome };
}
