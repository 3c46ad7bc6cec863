import type { ClaimedEmail, EmailStore, PartySnapshot } from '../operations/ports.ts';
import type { PrismaClient } from './generated/client.ts';

/** The e-mails' rows. Contracts: `EmailStore`. */
export function openEmailStore(prisma: PrismaClient): EmailStore {
  return { claim, settle };

  async function claim(emailId: string): Promise<ClaimedEmail | null> {
    const [row] = await prisma.$queryRaw<ClaimedRow[]>`
      WITH claimed AS (
        UPDATE emails SET status = 'sending', send_no = send_no + 1, sending_at = clock_timestamp(), reason = NULL
        WHERE id = ${emailId}::uuid AND status = 'pending'
        RETURNING *
      )
      SELECT e.id, e.message_id, e.send_no, c.emails AS recipients, c.locale,
        i.seller_snapshot AS seller, i.customer_snapshot AS customer, i.number, i.issue_date::text AS issue_date,
        (p.captured_at AT TIME ZONE (i.seller_snapshot->>'timeZone'))::date::text AS paid_date,
        i.currency, i.subtotal_minor, i.discount_minor, i.charge_minor, i.tax_breakdown, i.total_minor,
        p.captured_minor,
        (SELECT jsonb_agg(jsonb_build_object('description', l.description, 'quantity', l.quantity::text,
           'netMinor', l.net_minor::text) ORDER BY l.position) FROM invoice_lines l WHERE l.invoice_id = i.id) AS lines
      FROM claimed e
      JOIN invoices i ON i.id = e.invoice_id
      JOIN customers c ON c.id = i.customer_id
      JOIN payments p ON p.id = e.payment_id`;
    return row ? claimedOf(row) : null;
  }

  async function settle(
    emailId: string,
    sendNo: number,
    end: Parameters<EmailStore['settle']>[2],
  ): Promise<boolean> {
    const changed = await prisma.$executeRaw`
      UPDATE emails SET
        status = ${end.status}::email_status, reason = ${end.reason},
        ended_at = CASE WHEN ${end.status} = 'pending' THEN NULL ELSE clock_timestamp() END
      WHERE id = ${emailId}::uuid AND status = 'sending' AND send_no = ${sendNo}`;
    return changed > 0;
  }
}

interface ClaimedRow {
  id: string;
  message_id: string;
  send_no: number;
  recipients: string[];
  locale: string | null;
  seller: PartySnapshot & { senderAddress: string | null };
  customer: PartySnapshot;
  number: string;
  issue_date: string;
  paid_date: string;
  currency: string;
  subtotal_minor: bigint;
  discount_minor: bigint;
  charge_minor: bigint;
  tax_breakdown: { category: string; ratePercent: string; taxMinor: string }[];
  total_minor: bigint;
  captured_minor: bigint;
  lines: { description: string; quantity: string; netMinor: string }[] | null;
}

function claimedOf(row: ClaimedRow): ClaimedEmail {
  return {
    id: row.id,
    messageId: row.message_id,
    sendNo: row.send_no,
    recipients: row.recipients,
    senderAddress: row.seller.senderAddress,
    content: {
      seller: row.seller,
      customer: row.customer,
      invoiceNumber: row.number,
      issueDate: row.issue_date,
      paidDate: row.paid_date,
      currency: row.currency,
      lines: (row.lines ?? []).map((line) => ({ ...line, netMinor: BigInt(line.netMinor) })),
      subtotalMinor: row.subtotal_minor,
      discountMinor: row.discount_minor,
      chargeMinor: row.charge_minor,
      taxes: row.tax_breakdown.map((tax) => ({ ...tax, taxMinor: BigInt(tax.taxMinor) })),
      totalMinor: row.total_minor,
      paidMinor: row.captured_minor,
      locale: row.locale ?? 'en',
    },
  };
}
