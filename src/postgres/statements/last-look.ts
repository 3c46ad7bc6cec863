import type { PaymentStatus } from '../../billing/payment.ts';
import type { Actor, LastLookResult } from '../../operations/ports.ts';
import { Prisma, type PrismaClient } from '../generated/client.ts';
import { insertTrail, SENT_PAYMENT_COLUMNS, type SentPaymentRow, sentPaymentOf } from './shared.ts';

/**
 * The last look before a call: `created`, `sent` or `unknown` → `sent`, one send more, if the invoice still wants
 * this attempt. Where it does not, nothing may be sent, and an attempt that no gateway can know is cancelled in
 * the same statement. Finding the row already `sent` means that an earlier sender may have reached the gateway.
 */
export async function lastLook(
  prisma: PrismaClient,
  paymentId: string,
  { actor, ownSendNo = -1 }: Actor & { ownSendNo?: number },
): Promise<LastLookResult> {
  const lookedAtMs = performance.now();
  const [row] = await prisma.$queryRaw<LookRow[]>`
    WITH invoice AS MATERIALIZED (
      SELECT i.* FROM invoices i
      WHERE i.id = (SELECT invoice_id FROM payments WHERE id = ${paymentId}::uuid)
      FOR NO KEY UPDATE OF i
    ),
    look AS MATERIALIZED (
      SELECT p.id, p.status, invoice.decline_count, invoice.parked_at,
        invoice.status IN ('open', 'uncollectible') AND invoice.open_payment_id = p.id AND invoice.parked_at IS NULL
          AND invoice.total_minor - invoice.paid_minor - invoice.credited_minor >= p.amount_minor AS wanted
      FROM payments p JOIN invoice ON invoice.id = p.invoice_id
      WHERE p.id = ${paymentId}::uuid
      FOR NO KEY UPDATE OF p
    ),
    sent AS (
      UPDATE payments p SET
        status = 'sent', send_no = p.send_no + 1, next_check_at = NULL,
        uncertain_sends = p.uncertain_sends + (look.status = 'sent' AND p.send_no <> ${ownSendNo})::int,
        first_sent_at = coalesce(p.first_sent_at, clock_timestamp()),
        last_sent_at = clock_timestamp(), updated_at = clock_timestamp()
      FROM look
      WHERE p.id = look.id AND look.wanted AND look.status IN ('created', 'sent', 'unknown')
      RETURNING p.*
    ),
    cancelled AS (
      UPDATE payments p SET status = 'cancelled', status_reason = 'no_longer_wanted', updated_at = clock_timestamp()
      FROM look
      WHERE p.id = look.id AND NOT look.wanted AND look.parked_at IS NULL AND look.status = 'created'
      RETURNING p.id, p.invoice_id
    ),
    released AS (
      UPDATE invoices i SET open_payment_id = NULL, revision = i.revision + 1, updated_at = clock_timestamp()
      FROM cancelled WHERE i.id = cancelled.invoice_id AND i.open_payment_id = cancelled.id
    ),
    trail AS (
      ${insertTrail(actor, [
        {
          type: 'payment.sent',
          source: Prisma.sql`SELECT id, invoice_id, send_no FROM sent`,
          details: Prisma.sql`jsonb_build_object('paymentId', t.id, 'sendNo', t.send_no)`,
        },
        {
          type: 'payment.cancelled',
          source: Prisma.sql`SELECT id, invoice_id FROM cancelled`,
          details: Prisma.sql`jsonb_build_object('paymentId', t.id)`,
        },
      ])}
    )
    SELECT look.status::text AS seen_status, look.decline_count, ${SENT_PAYMENT_COLUMNS}
    FROM look LEFT JOIN sent p ON p.id = look.id`;
  if (!row) return { kind: 'refused', status: null };
  if (row.payment_id === null) return { kind: 'refused', status: row.seen_status };
  return { kind: 'sent', payment: sentPaymentOf(row, lookedAtMs) };
}

type LookRow = { seen_status: PaymentStatus } & (SentPaymentRow | { payment_id: null });
