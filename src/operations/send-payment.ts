/**
 * One call to the gateway for a payment whose `sent` is committed, and the settlement of its answer. A lost reply
 * is asked for again at once, with the same key, before anybody has to wait.
 */
import type { FinalizeOutcome } from '../billing/invoice.ts';
import { echoDifferences, retryDelayAfterDecline } from '../billing/payment.ts';
import { BillingError } from '../errors.ts';
import type {
  CaptureOutcome,
  CaptureRequest,
  Gateway,
  HeldLock,
  Log,
  PaymentStore,
  Reminders,
  SentPayment,
  Settlement,
} from './ports.ts';

/** How often an unknown outcome is asked for in the same job. */
const ASKS_AT_ONCE_MAX = 2;
/** A last look that is older than this is no last look: a stall may have come between. */
const LOOK_AGE_MAX_MS = 2_000;
const MINUTE_MS = 60_000;
const CHECK_UNKNOWN_AFTER_MS = 15_000;
const CHECK_ACTION_AFTER_MS = 15 * MINUTE_MS;
const CHECK_PROCESSING_AFTER_MS = 60 * MINUTE_MS;

export interface SendPaymentNeeds {
  payments: Pick<PaymentStore, 'lastLook' | 'settle' | 'settleCaptured'>;
  gateway: Pick<Gateway, 'account' | 'capture'>;
  reminders: Pick<Reminders, 'sendMail'>;
  log: Log;
  /** Milliseconds of a clock that never steps back. */
  monotonicMs: () => number;
}

export type SendPaymentOutcome =
  | Extract<
      FinalizeOutcome,
      'paid' | 'open-declined' | 'open-unknown' | 'open-requires-action' | 'open-processing' | 'parked'
    >
  /** Nothing was sent, since the row had changed: decide anew. */
  | 'look-again'
  | 'gateway-key-busy';

export type SendPayment = (
  payment: SentPayment,
  held: HeldLock,
  context: { actor: string; jobName: string; signal?: AbortSignal },
) => Promise<SendPaymentOutcome>;

/** @throws BillingError `unavailable` if the gateway certainly did nothing: running the job again may help */
export function makeSendPayment(needs: SendPaymentNeeds): SendPayment {
  const { payments, gateway, log } = needs;

  return async (first, held, context) => {
    let payment = first;
    for (let ask = 0; ; ask += 1) {
      const fresh = await lookAgainAfterStall(payment, context);
      if (!fresh) return 'look-again';
      payment = fresh;
      const answer = await call(payment, held, context.signal);
      const askNow = answer.kind === 'unknown' && ask < ASKS_AT_ONCE_MAX && !context.signal?.aborted;
      if (!askNow) return settle(payment, answer, context);
      await payments.settle(payment, settlementOf(answer, payment), context);
      const look = await payments.lastLook(payment.id, context);
      if (look.kind === 'refused') return 'look-again';
      payment = look.payment;
    }
  };

  async function lookAgainAfterStall(payment: SentPayment, context: Context): Promise<SentPayment | null> {
    if (needs.monotonicMs() - payment.lookedAtMs <= LOOK_AGE_MAX_MS) return payment;
    const look = await payments.lastLook(payment.id, { ...context, ownSendNo: payment.sendNo });
    return look.kind === 'sent' ? look.payment : null;
  }

  async function call(
    payment: SentPayment,
    held: HeldLock,
    signal: AbortSignal | undefined,
  ): Promise<CaptureOutcome> {
    held.assertHeld();
    const answer = await gateway.capture(captureRequestOf(payment), signal ? { signal } : {});
    if (answer.kind !== 'captured') return answer;
    const expected = {
      account: gateway.account,
      paymentId: payment.id,
      amountMinor: payment.amountMinor,
      currency: payment.currency,
    };
    const differing = echoDifferences(expected, answer.echo);
    if (differing.length === 0) return answer;
    log.error({ paymentId: payment.id, differing }, 'the gateway echoed something else than was sent');
    return { kind: 'unknown', reason: `echo_differs:${differing.join(',')}` };
  }

  async function settle(
    payment: SentPayment,
    answer: CaptureOutcome,
    context: Context,
  ): Promise<SendPaymentOutcome> {
    if (answer.kind === 'key_in_use') return 'gateway-key-busy';
    if (answer.kind === 'captured') {
      const { emailId } = await payments.settleCaptured(
        payment,
        { reference: answer.reference, amountMinor: answer.echo.amountMinor },
        context,
      );
      // Only a reminder: the row is committed, and a crash here loses nothing.
      if (emailId) await needs.reminders.sendMail(emailId);
      else log.info({ paymentId: payment.id }, 'lost the race to settle this capture: somebody else did');
      return 'paid';
    }
    await payments.settle(payment, settlementOf(answer, payment), context);
    return outcomeOf(answer);
  }
}

type Context = Parameters<SendPayment>[2];
type NotCaptured = Exclude<CaptureOutcome, { kind: 'captured' } | { kind: 'key_in_use' }>;

function captureRequestOf(payment: SentPayment): CaptureRequest {
  const { gatewayKey, amountMinor, currency, gatewayCustomer, paymentMethod, descriptor, metadata } = payment;
  return { gatewayKey, amountMinor, currency, gatewayCustomer, paymentMethod, descriptor, metadata };
}

function settlementOf(answer: NotCaptured, payment: SentPayment): Settlement {
  switch (answer.kind) {
    case 'declined':
      return { ...answer, retryAfterMs: retryDelayAfterDecline(answer.declineClass, payment.declinesBefore) };
    case 'requires_action':
      return { ...answer, checkAfterMs: CHECK_ACTION_AFTER_MS };
    case 'processing':
      return {
        kind: 'processing',
        reference: answer.reference,
        reason: answer.statusWord,
        checkAfterMs: CHECK_PROCESSING_AFTER_MS,
      };
    case 'unknown':
    case 'not_executed':
    case 'ours_to_fix':
      return { kind: answer.kind, reason: answer.reason, checkAfterMs: CHECK_UNKNOWN_AFTER_MS };
    default:
      return answer satisfies never;
  }
}

function outcomeOf(answer: NotCaptured): SendPaymentOutcome {
  switch (answer.kind) {
    case 'declined':
      return 'open-declined';
    case 'requires_action':
      return 'open-requires-action';
    case 'processing':
      return 'open-processing';
    case 'unknown':
      return 'open-unknown';
    case 'ours_to_fix':
      return 'parked';
    case 'not_executed':
      throw new BillingError('unavailable', `the gateway did not take the capture: ${answer.reason}`);
    default:
      return answer satisfies never;
  }
}
