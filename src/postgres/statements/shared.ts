/** Pieces of SQL that more than one statement needs, so that they cannot come to differ. */
import { randomUUID } from 'node:crypto';
import type { NewAttempt, SentPayment } from '../../operations/ports.ts';
import { Prisma } from '../generated/client.ts';

/**
 * Inserts an attempt as `sent` for the rows of `source`, which must be locked and yield the invoice's columns as
 * `id, external_id, number, currency, due_minor` and the customer's `gateway_customer, payment_method`.
 * Everything that will go into the call is frozen here, with its hash.
 */
export function insertSentAttempt(attempt: NewAttempt, source: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO payments AS p (
      id, invoice_id, request_id, gateway, gateway_key, status, amount_minor, currency, gateway_customer,
      payment_method, descriptor, metadata, request_hash, send_no, first_sent_at, last_sent_at)
    SELECT
      ${attempt.paymentId}::uuid, f.id, ${attempt.requestId}, ${attempt.gateway}, ${attempt.gatewayKey}, 'sent',
      f.due_minor, f.currency, f.gateway_customer, f.payment_method, ${attempt.descriptor}, f.metadata,
      encode(sha256(convert_to(jsonb_build_array(
        f.due_minor::text, f.currency, f.gateway_customer, f.payment_method, ${attempt.descriptor}::text, f.metadata
      )::text, 'UTF8')), 'hex'),
      1, clock_timestamp(), clock_timestamp()
    FROM (
      SELECT s.*, jsonb_build_object(
        'paymentId', ${attempt.paymentId}::text, 'invoiceId', s.id::text,
        'externalId', s.external_id, 'number', s.number) AS metadata
      FROM (${source}) s
    ) f
    RETURNING p.*`;
}

/** The columns that a sender needs, from a payment called `p`. */
export const SENT_PAYMENT_COLUMNS = Prisma.sql`
  p.id AS payment_id, p.invoice_id, p.request_id, p.gateway_key, p.amount_minor, p.currency, p.gateway_customer,
  p.payment_method, p.descriptor, p.metadata AS payment_metadata, p.send_no`;

export interface SentPaymentRow {
  payment_id: string;
  invoice_id: string;
  request_id: string;
  gateway_key: string;
  amount_minor: bigint;
  currency: string;
  gateway_customer: string | null;
  payment_method: string;
  descriptor: string;
  payment_metadata: SentPayment['metadata'];
  send_no: number;
  decline_count: number;
}

export function sentPaymentOf(row: SentPaymentRow, lookedAtMs: number): SentPayment {
  return {
    id: row.payment_id,
    invoiceId: row.invoice_id,
    requestId: row.request_id,
    gatewayKey: row.gateway_key,
    amountMinor: row.amount_minor,
    currency: row.currency,
    gatewayCustomer: row.gateway_customer,
    paymentMethod: row.payment_method,
    descriptor: row.descriptor,
    metadata: row.payment_metadata,
    sendNo: row.send_no,
    declinesBefore: row.decline_count,
    lookedAtMs,
  };
}

export interface TrailEntry {
  type: string;
  /** A query that yields `invoice_id` and whatever `details` names; no row, no entry. */
  source: Prisma.Sql;
  /** A jsonb expression over the row `t` of the source: ids, codes and amounts only. */
  details: Prisma.Sql;
}

/**
 * Rows of the trail, in the order given. Their ids are random and made before the first try, so that a caller
 * whose connection broke during COMMIT can find out whether it won.
 */
export function insertTrail(actor: string, entries: readonly TrailEntry[]): Prisma.Sql {
  const rows = entries.map(
    ({ type, source, details }, position) => Prisma.sql`
      SELECT ${randomUUID()}::uuid AS id, t.invoice_id, ${type} AS type, ${details} AS details, ${position}::int AS position
      FROM (${source}) t`,
  );
  return Prisma.sql`
    INSERT INTO invoice_events (id, invoice_id, type, actor, details, at)
    SELECT e.id, e.invoice_id, e.type, ${actor}, e.details, clock_timestamp() + e.position * interval '1 microsecond'
    FROM (${Prisma.join(rows, ' UNION ALL ')}) e`;
}
