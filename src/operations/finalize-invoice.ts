/**
 * The main job: a draft becomes a numbered, paid, receipted invoice. Whatever the last run left behind, this
 * looks at the row and does what its state still needs, so a replay from any point is safe.
 */
import { type FinalizeOutcome, type InvoiceWork, nextStep } from '../billing/invoice.ts';
import { automaticRequestId, gatewayKeyFor, paymentId } from '../billing/payment.ts';
import { statementDescriptor } from '../billing/statement-descriptor.ts';
import { BillingError } from '../errors.ts';
import type { HeldLock, NewAttempt, PaymentStore, Reminders, WithInvoiceLock } from './ports.ts';
import type { SendPayment, SendPaymentOutcome } from './send-payment.ts';

/** A state that keeps changing under the lock is a fault; a handful of looks is plenty. */
const LOOKS_MAX = 5;

export interface FinalizeInvoiceNeeds {
  withInvoiceLock: WithInvoiceLock;
  payments: Pick<PaymentStore, 'loadWork' | 'finalize' | 'startAttempt' | 'lastLook'>;
  reminders: Pick<Reminders, 'sendMail'>;
  sendPayment: SendPayment;
  gatewayName: string;
}

export type FinalizeInvoice = (
  input: { invoiceId: string },
  context: { actor: string; jobName: string; signal?: AbortSignal },
) => Promise<FinalizeOutcome | 'lock-busy' | 'gateway-key-busy'>;

/**
 * Run twice, or by two workers at once: one number, one capture, one receipt.
 * @throws BillingError `not_found`; `unavailable` if the gateway, Postgres or Redis could not be reached
 */
export function makeFinalizeInvoice(needs: FinalizeInvoiceNeeds): FinalizeInvoice {
  const { payments } = needs;

  return async ({ invoiceId }, context) => {
    const result = await needs.withInvoiceLock(invoiceId, (held) =>
      untilNothingIsLeft(invoiceId, held, context),
    );
    return result.busy ? 'lock-busy' : result.value;
  };

  async function untilNothingIsLeft(invoiceId: string, held: HeldLock, context: Context) {
    for (let look = 1; look <= LOOKS_MAX; look += 1) {
      const invoice = await payments.loadWork(invoiceId);
      if (!invoice) throw new BillingError('not_found', `invoice ${invoiceId} does not exist`);
      const outcome = await takeNextStep(invoice, held, context);
      if (outcome !== 'look-again') return outcome;
    }
    throw new BillingError('conflict', `invoice ${invoiceId} kept changing under its lock`);
  }

  async function takeNextStep(invoice: InvoiceWork, held: HeldLock, context: Context) {
    const next = nextStep(invoice);
    switch (next.step) {
      case 'finalize':
        return finalize(invoice, held, context);
      case 'start-attempt':
        return startAttempt(invoice, held, context);
      case 'send':
        return sendAgain(next.payment.id, held, context);
      case 'remind':
        await needs.reminders.sendMail(next.emailId);
        return 'already-paid' as const;
      case 'none':
        return next.outcome;
      default:
        return next satisfies never;
    }
  }

  async function finalize(invoice: InvoiceWork, held: HeldLock, context: Context) {
    const result = await payments.finalize(invoice.id, invoice.version, newAttempt(invoice), context);
    if (result.kind === 'changed') return 'look-again' as const;
    if (result.payment) return needs.sendPayment(result.payment, held, context);
    return result.status === 'paid' ? ('paid' as const) : ('look-again' as const);
  }

  async function startAttempt(invoice: InvoiceWork, held: HeldLock, context: Context) {
    const payment = await payments.startAttempt(invoice.id, invoice.attemptSeq, newAttempt(invoice), context);
    return payment ? needs.sendPayment(payment, held, context) : ('look-again' as const);
  }

  async function sendAgain(id: string, held: HeldLock, context: Context): Promise<SendPaymentOutcome> {
    const look = await payments.lastLook(id, context);
    return look.kind === 'sent' ? needs.sendPayment(look.payment, held, context) : 'look-again';
  }

  function newAttempt(invoice: InvoiceWork): NewAttempt {
    const requestId = automaticRequestId(invoice.attemptSeq + 1);
    const id = paymentId(invoice.id, requestId);
    return {
      paymentId: id,
      requestId,
      gateway: needs.gatewayName,
      gatewayKey: gatewayKeyFor(id),
      descriptor: statementDescriptor(invoice.sellerName),
    };
  }
}

type Context = Parameters<FinalizeInvoice>[1];
