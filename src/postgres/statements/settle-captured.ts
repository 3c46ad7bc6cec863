import { v7 as uuidv7 } from 'uuid';
import type { Actor, CapturedAnswer, SentPayment } from '../../operations/ports.ts';
import { Prisma, type PrismaClient } from '../generated/client.ts';
import { insertTrail } from './shared.ts';

export interface SettleCapturedOptions extends Actor {
  jobName: string;
  /** The part behind the @ of Message-IDs. */
  mailDomain: string;
}

/**
 * Money has moved, so it is recorded whatever the attempt's status was. The same statement adds to `paid`, moves
 * the invoice, writes the event row, the receipt's row and the insertTrail, each from the row that really changed.
 */
export async function settleCaptured(
  prisma: PrismaClient,
  payment: SentPayment,
  answer: CapturedAnswer,
  options: SettleCapturedOptions,
): Promise<{ emailId: string | null }> {
  const emailId = uuidv7();
  const eventKey = `charge_payment:${payment.id}:${payment.requestId}`;
  const rows = await prisma.$queryRaw<{ email_id: string }[]>`
    WITH invoice AS MATERIALIZED (
      SELECT i.* FROM invoices i WHERE i.id = ${payment.invoiceId}::uuid FOR NO KEY UPDATE OF i
    ),
    captured AS (
      UPDATE payments p SET
        status = 'captured', captured_minor = ${answer.amountMinor}::bigint, captured_at = clock_timestamp(),
        gateway_reference = ${answer.reference}, next_check_at = NULL, status_reason = NULL,
        decline_code = NULL, decline_class = NULL, updated_at = clock_timestamp()
      FROM invoice
      WHERE p.id = ${payment.id}::uuid AND p.invoice_id = invoice.id AND p.status <> 'captured'
      RETURNING p.id, p.invoice_id, p.captured_minor
    ),
    paid AS (
      UPDATE invoices i SET
        paid_minor = i.paid_minor + captured.captured_minor,
        status = CASE
          WHEN i.status IN ('open', 'uncollectible')
            AND i.paid_minor + captured.captured_minor + i.credited_minor >= i.total_minor THEN 'paid'::invoice_status
          ELSE i.status END,
        open_payment_id = nullif(i.open_payment_id, captured.id),
        next_attempt_at = NULL, remind_at = NULL, revision = i.revision + 1, updated_at = clock_timestamp()
      FROM captured WHERE i.id = captured.invoice_id
      RETURNING i.id, i.status
    ),
    event AS (
      INSERT INTO processed_events (event_key, job_name, metadata)
      SELECT ${eventKey}, ${options.jobName},
        jsonb_build_object('paymentId', captured.id, 'invoiceId', captured.invoice_id) FROM captured
      ON CONFLICT (event_key) DO NOTHING
    ),
    receipt AS (
      INSERT INTO emails (id, invoice_id, payment_id, subject_id, kind, message_id, remind_at)
      SELECT ${emailId}::uuid, captured.invoice_id, captured.id, captured.id, 'receipt',
        ${`<${emailId}@${options.mailDomain}>`}, clock_timestamp() + interval '30 seconds' FROM captured
      ON CONFLICT (subject_id, kind) DO NOTHING
      RETURNING id
    ),
    trail AS (
      ${insertTrail(options.actor, [
        {
          type: 'payment.captured',
          source: Prisma.sql`SELECT id, invoice_id, captured_minor FROM captured`,
          details: Prisma.sql`jsonb_build_object('paymentId', t.id, 'capturedMinor', t.captured_minor::text)`,
        },
        {
          type: 'invoice.paid',
          source: Prisma.sql`SELECT id AS invoice_id FROM paid WHERE status = 'paid'`,
          details: Prisma.sql`'{}'::jsonb`,
        },
      ])}
    )
    SELECT receipt.id AS email_id FROM receipt`;
  return { emailId: rows[0]?.email_id ?? null };
}
