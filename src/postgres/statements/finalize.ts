import type { Actor, FinalizeResult, NewAttempt } from '../../operations/ports.ts';
import { Prisma, type PrismaClient } from '../generated/client.ts';
import {
  insertSentAttempt,
  insertTrail,
  SENT_PAYMENT_COLUMNS,
  type SentPaymentRow,
  sentPaymentOf,
} from './shared.ts';

/**
 * Draft → open (or paid, where nothing is due), in one statement: the version is compared, the series' row is
 * locked, *then* the clock is read and the counter raised, and the first attempt is written as sent. A rollback
 * gives the number back; nothing else ever takes one.
 *
 * Locks in the one order: customer, invoice, series, counter; each part depends on the rows of the part before.
 */
export async function finalize(
  prisma: PrismaClient,
  invoiceId: string,
  version: number,
  attempt: NewAttempt,
  by: Actor,
): Promise<FinalizeResult> {
  const lookedAtMs = performance.now();
  const [row] = await prisma.$queryRaw<FinalizedRow[]>`
    WITH customer AS MATERIALIZED (
      SELECT c.* FROM customers c
      WHERE c.id = (SELECT customer_id FROM invoices WHERE id = ${invoiceId}::uuid)
      FOR SHARE OF c
    ),
    draft AS MATERIALIZED (
      SELECT i.*, customer.payment_method, customer.gateway_customer, customer.time_zone AS customer_zone,
        i.total_minor > 0 AND i.collection_method = 'charge_automatically' AS to_collect,
        i.total_minor > 0 AND i.collection_method = 'charge_automatically'
          AND customer.payment_method IS NOT NULL AS to_charge
      FROM invoices i JOIN customer ON customer.id = i.customer_id
      WHERE i.id = ${invoiceId}::uuid AND i.status = 'draft' AND i.version = ${version}
        AND i.finalize_version = i.version AND i.parked_at IS NULL
      FOR NO KEY UPDATE OF i
    ),
    series AS MATERIALIZED (
      SELECT s.* FROM number_series s JOIN draft ON draft.series_id = s.id
      FOR NO KEY UPDATE OF s
    ),
    clock AS MATERIALIZED (SELECT clock_timestamp() AS now FROM series),
    dated AS MATERIALIZED (
      SELECT d.issue_date, ${periodOf(Prisma.sql`s.reset`, Prisma.sql`d.issue_date`)} AS period, s.id AS series_id
      FROM series s JOIN sellers seller ON seller.id = s.seller_id
      CROSS JOIN clock CROSS JOIN draft
      CROSS JOIN LATERAL (SELECT CASE s.date_zone_kind
        WHEN 'customer' THEN (clock.now AT TIME ZONE coalesce(draft.customer_zone, seller.time_zone))::date
        WHEN 'fixed' THEN greatest((clock.now AT TIME ZONE s.date_zone)::date, s.last_issue_date)
        ELSE greatest((clock.now AT TIME ZONE seller.time_zone)::date, s.last_issue_date)
      END AS issue_date) d
    ),
    counter AS (
      INSERT INTO number_counters AS n (series_id, period, next)
      SELECT series_id, period, 2 FROM dated
      ON CONFLICT (series_id, period) DO UPDATE SET next = n.next + 1
      RETURNING n.next - 1 AS seq
    ),
    last_date AS (
      UPDATE number_series s SET last_issue_date = dated.issue_date
      FROM dated WHERE s.id = dated.series_id AND s.date_zone_kind <> 'customer'
        AND s.last_issue_date IS DISTINCT FROM dated.issue_date
    ),
    finalized AS (
      UPDATE invoices i SET
        status = CASE WHEN draft.total_minor = 0 THEN 'paid'::invoice_status ELSE 'open' END,
        number = ${numberOf(Prisma.sql`series.format`, Prisma.sql`counter.seq`, Prisma.sql`dated.issue_date`)},
        issue_date = dated.issue_date,
        due_date = dated.issue_date + coalesce(i.due_in_days, 0),
        finalized_at = clock.now,
        seller_snapshot = jsonb_build_object(
          'name', seller.name, 'address', seller.address, 'taxNumber', seller.tax_number,
          'registrationNumber', seller.registration_number, 'bankDetails', seller.bank_details,
          'senderAddress', seller.sender_address, 'timeZone', seller.time_zone),
        customer_snapshot = jsonb_build_object(
          'name', customer.name, 'address', customer.address, 'taxNumber', customer.tax_number,
          'locale', customer.locale, 'timeZone', customer.time_zone),
        open_payment_id = CASE WHEN draft.to_charge THEN ${attempt.paymentId}::uuid END,
        attempt_seq = i.attempt_seq + draft.to_charge::int,
        next_attempt_at = CASE WHEN draft.to_collect AND NOT draft.to_charge THEN clock.now END,
        remind_at = NULL, revision = i.revision + 1, updated_at = clock.now
      FROM draft, customer, series, sellers seller, clock, dated, counter
      WHERE i.id = draft.id AND seller.id = series.seller_id
      RETURNING i.*
    ),
    attempt AS (
      ${insertSentAttempt(
        attempt,
        Prisma.sql`SELECT f.id, f.external_id, f.number, f.currency, f.total_minor AS due_minor,
          draft.gateway_customer, draft.payment_method FROM finalized f, draft WHERE draft.to_charge`,
      )}
    ),
    trail AS (
      ${insertTrail(by.actor, [
        {
          type: 'invoice.finalized',
          source: Prisma.sql`SELECT id AS invoice_id, number FROM finalized`,
          details: Prisma.sql`jsonb_build_object('number', t.number)`,
        },
        {
          type: 'payment.sent',
          source: Prisma.sql`SELECT id, invoice_id FROM attempt`,
          details: Prisma.sql`jsonb_build_object('paymentId', t.id, 'sendNo', 1)`,
        },
      ])}
    )
    SELECT f.number AS invoice_number, f.status::text AS invoice_status, f.decline_count, ${SENT_PAYMENT_COLUMNS}
    FROM finalized f LEFT JOIN attempt p ON true`;
  if (!row) return { kind: 'changed' };
  const payment = row.payment_id === null ? null : sentPaymentOf(row, lookedAtMs);
  return { kind: 'finalized', number: row.invoice_number, status: row.invoice_status, payment };
}

type FinalizedRow = { invoice_number: string; invoice_status: 'open' | 'paid' } & (
  | SentPaymentRow
  | { payment_id: null }
);

/** Mirrors `periodOf` in billing/invoice-number.ts; a test holds the two against each other. */
function periodOf(reset: Prisma.Sql, date: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`CASE ${reset} WHEN 'never' THEN '' WHEN 'yearly' THEN to_char(${date}, 'YYYY') ELSE to_char(${date}, 'YYYY-MM') END`;
}

/** Mirrors `renderInvoiceNumber` in billing/invoice-number.ts: `{SEQ:n}` widens, it never wraps. */
function numberOf(format: Prisma.Sql, seq: Prisma.Sql, date: Prisma.Sql): Prisma.Sql {
  const width = Prisma.sql`substring(${format} FROM ${'\\{SEQ:(\\d+)\\}'})::int`;
  const digits = Prisma.sql`lpad(${seq}::text, greatest(${width}, length(${seq}::text)), '0')`;
  return Prisma.sql`replace(replace(replace(
    regexp_replace(${format}, ${'\\{SEQ:\\d+\\}'}, ${digits}),
    '{YYYY}', to_char(${date}, 'YYYY')), '{YY}', to_char(${date}, 'YY')), '{MM}', to_char(${date}, 'MM'))`;
}
