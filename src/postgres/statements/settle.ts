import type { PaymentStatus } from '../../billing/payment.ts';
import type { Actor, SentPayment, Settlement } from '../../operations/ports.ts';
import { Prisma, type PrismaClient } from '../generated/client.ts';
import { insertTrail } from './shared.ts';

/**
 * An answer that is not a capture, for the send that it belongs to: compared on (payment, `send_no`), so that a
 * late answer to an earlier send changes nothing.
 */
export async function settle(
  prisma: PrismaClient,
  payment: SentPayment,
  settlement: Settlement,
  by: Actor,
): Promise<{ changed: boolean }> {
  const to = columnsOf(settlement);
  const rows = await prisma.$queryRaw<{ id: string }[]>`
    WITH invoice AS MATERIALIZED (
      SELECT i.* FROM invoices i WHERE i.id = ${payment.invoiceId}::uuid FOR NO KEY UPDATE OF i
    ),
    settled AS (
      UPDATE payments p SET
        -- "Certainly not executed" is true of this send only: an earlier one may have been.
        status = (CASE WHEN ${to.status} = 'created' AND p.uncertain_sends > 0 THEN 'unknown' ELSE ${to.status} END)::payment_status,
        uncertain_sends = p.uncertain_sends + ${to.uncertain ? 1 : 0},
        gateway_reference = coalesce(${to.reference}::text, p.gateway_reference),
        decline_code = ${to.declineCode}::text, decline_class = ${to.declineClass}::decline_class,
        action_url = ${to.actionUrl}::text, status_reason = ${to.reason}::text,
        next_check_at = clock_timestamp() + ${to.checkAfterMs}::float8 * interval '1 millisecond',
        updated_at = clock_timestamp()
      FROM invoice
      WHERE p.id = ${payment.id}::uuid AND p.invoice_id = invoice.id
        AND p.status = 'sent' AND p.send_no = ${payment.sendNo}
      RETURNING p.id, p.invoice_id, p.status, p.decline_class
    ),
    moved AS (
      UPDATE invoices i SET
        open_payment_id = CASE WHEN settled.status = 'declined' THEN nullif(i.open_payment_id, settled.id) ELSE i.open_payment_id END,
        decline_count = i.decline_count + (settled.status = 'declined')::int,
        next_attempt_at = clock_timestamp() + ${to.retryAfterMs}::float8 * interval '1 millisecond',
        parked_at = CASE WHEN ${to.parks} THEN coalesce(i.parked_at, clock_timestamp()) ELSE i.parked_at END,
        parked_reason = CASE WHEN ${to.parks} THEN coalesce(i.parked_reason, ${to.reason}::text) ELSE i.parked_reason END,
        revision = i.revision + 1, updated_at = clock_timestamp()
      FROM settled WHERE i.id = settled.invoice_id
    ),
    trail AS (
      ${insertTrail(by.actor, [
        {
          type: `payment.${settlement.kind}`,
          source: Prisma.sql`SELECT id, invoice_id, decline_class FROM settled`,
          details: Prisma.sql`jsonb_strip_nulls(jsonb_build_object(
            'paymentId', t.id, 'sendNo', ${payment.sendNo}::int, 'declineCode', ${to.declineCode}::text,
            'declineClass', t.decline_class, 'reason', ${to.reason}::text))`,
        },
      ])}
    )
    SELECT id FROM settled`;
  return { changed: rows.length > 0 };
}

interface SettledColumns {
  status: PaymentStatus;
  uncertain: boolean;
  reference: string | null;
  declineCode: string | null;
  declineClass: string | null;
  actionUrl: string | null;
  reason: string | null;
  checkAfterMs: number | null;
  retryAfterMs: number | null;
  parks: boolean;
}

const NOTHING: Omit<SettledColumns, 'status'> = {
  uncertain: false,
  reference: null,
  declineCode: null,
  declineClass: null,
  actionUrl: null,
  reason: null,
  checkAfterMs: null,
  retryAfterMs: null,
  parks: false,
};

function columnsOf(settlement: Settlement): SettledColumns {
  switch (settlement.kind) {
    case 'declined': {
      const { reference, declineCode, declineClass, retryAfterMs } = settlement;
      return { ...NOTHING, status: 'declined', reference, declineCode, declineClass, retryAfterMs };
    }
    case 'requires_action': {
      const { reference, actionUrl, checkAfterMs } = settlement;
      return { ...NOTHING, status: 'requires_action', reference, actionUrl, checkAfterMs };
    }
    case 'processing': {
      const { reference, reason, checkAfterMs } = settlement;
      return { ...NOTHING, status: 'processing', reference, reason, checkAfterMs };
    }
    case 'unknown':
      return {
        ...NOTHING,
        status: 'unknown',
        uncertain: true,
        reason: settlement.reason,
        checkAfterMs: settlement.checkAfterMs,
      };
    case 'not_executed':
      return {
        ...NOTHING,
        status: 'created',
        reason: settlement.reason,
        checkAfterMs: settlement.checkAfterMs,
      };
    case 'ours_to_fix':
      return { ...NOTHING, status: 'created', reason: settlement.reason, parks: true };
    default:
      return settlement satisfies never;
  }
}
