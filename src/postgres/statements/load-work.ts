import type { InvoiceWork } from '../../billing/invoice.ts';
import type { OpenPayment } from '../../billing/payment.ts';
import { Prisma, type PrismaClient } from '../generated/client.ts';

/** The gateway remembers a key for 24 h; four of them are kept as a margin. */
const KEY_LIFE = Prisma.sql`interval '20 hours'`;

/** Everything the next step is decided by, in one statement; ages by Postgres' clock. */
export async function loadWork(prisma: PrismaClient, invoiceId: string): Promise<InvoiceWork | null> {
  const [row] = await prisma.$queryRaw<WorkRow[]>`
    SELECT
      i.id, i.status::text AS status, i.collection_method::text AS collection_method, i.version, i.finalize_version,
      i.attempt_seq, greatest(0, i.total_minor - i.paid_minor - i.credited_minor)::bigint AS due_minor,
      i.parked_at IS NOT NULL AS parked,
      coalesce(i.next_attempt_at <= clock_timestamp(), false) AS attempt_due,
      c.payment_method IS NOT NULL AS has_payment_method,
      i.decline_count > 0 AS last_attempt_declined,
      p.id AS payment_id, p.status::text AS payment_status,
      coalesce(p.next_check_at <= clock_timestamp(), false) AS check_due,
      coalesce(p.first_sent_at > clock_timestamp() - ${KEY_LIFE}, true) AS key_alive,
      (SELECT e.id FROM emails e WHERE e.invoice_id = i.id AND e.status = 'pending' ORDER BY e.created_at LIMIT 1)
        AS pending_email_id,
      s.name AS seller_name
    FROM invoices i
    JOIN customers c ON c.id = i.customer_id
    JOIN number_series ns ON ns.id = i.series_id
    JOIN sellers s ON s.id = ns.seller_id
    LEFT JOIN payments p ON p.id = i.open_payment_id
    WHERE i.id = ${invoiceId}::uuid`;
  return row ? workOf(row) : null;
}

interface WorkRow {
  id: string;
  status: InvoiceWork['status'];
  collection_method: InvoiceWork['collectionMethod'];
  version: number;
  finalize_version: number | null;
  attempt_seq: number;
  due_minor: bigint;
  parked: boolean;
  attempt_due: boolean;
  has_payment_method: boolean;
  last_attempt_declined: boolean;
  payment_id: string | null;
  payment_status: OpenPayment['status'] | null;
  check_due: boolean;
  key_alive: boolean;
  pending_email_id: string | null;
  seller_name: string;
}

function workOf(row: WorkRow): InvoiceWork {
  return {
    id: row.id,
    status: row.status,
    collectionMethod: row.collection_method,
    version: row.version,
    finalizeVersion: row.finalize_version,
    attemptSeq: row.attempt_seq,
    dueMinor: row.due_minor,
    parked: row.parked,
    attemptDue: row.attempt_due,
    hasPaymentMethod: row.has_payment_method,
    lastAttemptDeclined: row.last_attempt_declined,
    openPayment: openPaymentOf(row),
    pendingEmailId: row.pending_email_id,
    sellerName: row.seller_name,
  };
}

function openPaymentOf(row: WorkRow): OpenPayment | null {
  if (!row.payment_id || !row.payment_status) return null;
  return { id: row.payment_id, status: row.payment_status, checkDue: row.check_due, keyAlive: row.key_alive };
}
