import type { Actor, NewAttempt, SentPayment } from '../../operations/ports.ts';
import { Prisma, type PrismaClient } from '../generated/client.ts';
import {
  insertSentAttempt,
  insertTrail,
  SENT_PAYMENT_COLUMNS,
  type SentPaymentRow,
  sentPaymentOf,
} from './shared.ts';

/**
 * A further automatic attempt at an open invoice, written as sent. Decided by columns of the locked invoice alone:
 * nothing in flight, something due, its time reached, and still the attempt that the caller counted to.
 */
export async function startAttempt(
  prisma: PrismaClient,
  invoiceId: string,
  attemptSeq: number,
  attempt: NewAttempt,
  by: Actor,
): Promise<SentPayment | null> {
  const lookedAtMs = performance.now();
  const [row] = await prisma.$queryRaw<SentPaymentRow[]>`
    WITH customer AS MATERIALIZED (
      SELECT c.* FROM customers c
      WHERE c.id = (SELECT customer_id FROM invoices WHERE id = ${invoiceId}::uuid)
      FOR SHARE OF c
    ),
    due AS MATERIALIZED (
      SELECT i.*, customer.payment_method, customer.gateway_customer,
        i.total_minor - i.paid_minor - i.credited_minor AS due_minor
      FROM invoices i JOIN customer ON customer.id = i.customer_id
      WHERE i.id = ${invoiceId}::uuid AND i.status = 'open' AND i.collection_method = 'charge_automatically'
        AND i.parked_at IS NULL AND i.open_payment_id IS NULL AND i.attempt_seq = ${attemptSeq}
        AND i.next_attempt_at <= clock_timestamp() AND i.total_minor - i.paid_minor - i.credited_minor > 0
        AND customer.payment_method IS NOT NULL
      FOR NO KEY UPDATE OF i
    ),
    started AS (
      UPDATE invoices i SET
        open_payment_id = ${attempt.paymentId}::uuid, attempt_seq = i.attempt_seq + 1, next_attempt_at = NULL,
        remind_at = NULL, revision = i.revision + 1, updated_at = clock_timestamp()
      FROM due WHERE i.id = due.id
      RETURNING i.id, i.decline_count
    ),
    attempt AS (
      ${insertSentAttempt(
        attempt,
        Prisma.sql`SELECT due.id, due.external_id, due.number, due.currency, due.due_minor,
          due.gateway_customer, due.payment_method FROM due JOIN started ON started.id = due.id`,
      )}
    ),
    trail AS (
      ${insertTrail(by.actor, [
        {
          type: 'payment.sent',
          source: Prisma.sql`SELECT id, invoice_id FROM attempt`,
          details: Prisma.sql`jsonb_build_object('paymentId', t.id, 'sendNo', 1)`,
        },
      ])}
    )
    SELECT started.decline_count, ${SENT_PAYMENT_COLUMNS} FROM attempt p JOIN started ON started.id = p.invoice_id`;
  return row ? sentPaymentOf(row, lookedAtMs) : null;
}
