import { BillingError } from '../../errors.ts';
import type { InvoiceSummary, InvoiceView, Reference } from '../../operations/ports.ts';
import type { Prisma, PrismaClient } from '../generated/client.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const SUMMARY = {
  customer: { select: { externalId: true } },
} satisfies Prisma.InvoiceInclude;

const DETAIL = {
  ...SUMMARY,
  series: { select: { code: true } },
  lines: { orderBy: { position: 'asc' } },
  payments: { orderBy: { createdAt: 'asc' } },
} satisfies Prisma.InvoiceInclude;

type SummaryRow = Prisma.InvoiceGetPayload<{ include: typeof SUMMARY }>;
type DetailRow = Prisma.InvoiceGetPayload<{ include: typeof DETAIL }>;

export async function getInvoice(prisma: PrismaClient, reference: Reference): Promise<InvoiceView | null> {
  const row = await prisma.invoice.findUnique({ where: reference, include: DETAIL });
  return row ? viewOf(row) : null;
}

/** Newest first; the cursor is the last row's id, which is a UUIDv7 and so sorts by creation. */
export async function listInvoices(
  prisma: PrismaClient,
  page: { status?: InvoiceSummary['status']; limit: number; cursor?: string },
): Promise<{ data: InvoiceSummary[]; nextCursor: string | null }> {
  if (page.cursor !== undefined && !UUID.test(page.cursor)) {
    const message = 'cursor must be the nextCursor of an earlier page';
    throw new BillingError('invalid', message, {
      faults: [{ field: 'cursor', code: 'invalid_cursor', message }],
    });
  }
  const rows = await prisma.invoice.findMany({
    where: {
      ...(page.status ? { status: page.status } : {}),
      ...(page.cursor ? { id: { lt: page.cursor } } : {}),
    },
    include: SUMMARY,
    orderBy: { id: 'desc' },
    take: page.limit + 1,
  });
  const data = rows.slice(0, page.limit).map(summaryOf);
  return { data, nextCursor: rows.length > page.limit ? (data.at(-1)?.id ?? null) : null };
}

function summaryOf(row: SummaryRow): InvoiceSummary {
  const due = row.totalMinor - row.paidMinor - row.creditedMinor;
  return {
    id: row.id,
    externalId: row.externalId,
    number: row.number,
    status: row.status,
    collectionMethod: row.collectionMethod,
    customerId: row.customerId,
    customerExternalId: row.customer.externalId,
    currency: row.currency,
    subtotalMinor: row.subtotalMinor,
    discountMinor: row.discountMinor,
    chargeMinor: row.chargeMinor,
    taxMinor: row.taxMinor,
    totalMinor: row.totalMinor,
    paidMinor: row.paidMinor,
    creditedMinor: row.creditedMinor,
    dueMinor: due > 0n ? due : 0n,
    issueDate: localDate(row.issueDate),
    dueDate: localDate(row.dueDate),
    finalizeRequestedAt: row.finalizeRequestedAt,
    finalizedAt: row.finalizedAt,
    nextAttemptAt: row.nextAttemptAt,
    parkedReason: row.parkedReason,
    version: row.version,
    revision: row.revision,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

function viewOf(row: DetailRow): InvoiceView {
  const breakdown = row.taxBreakdown as {
    category: string;
    ratePercent: string;
    taxableMinor: string;
    taxMinor: string;
  }[];
  return {
    ...summaryOf(row),
    series: row.series.code,
    rounding: row.rounding === 'per_line' ? 'per-line' : 'per-rate',
    pricesIncludeTax: row.pricesIncludeTax,
    note: row.note,
    metadata: row.metadata as Record<string, string>,
    lines: row.lines.map((line) => ({
      description: line.description,
      quantity: line.quantity.toFixed(),
      unitPrice: line.unitPrice.toFixed(),
      taxCategory: line.taxCategory,
      taxRatePercent: line.taxRatePercent.toFixed(),
      netMinor: line.netMinor,
      taxMinor: line.taxMinor,
    })),
    taxBreakdown: breakdown.map((group) => ({
      ...group,
      taxableMinor: BigInt(group.taxableMinor),
      taxMinor: BigInt(group.taxMinor),
    })),
    payments: row.payments.map(
      ({
        id,
        status,
        amountMinor,
        declineCode,
        declineClass,
        gateway,
        gatewayReference,
        createdAt,
        capturedAt,
      }) => ({
        id,
        status,
        amountMinor,
        declineCode,
        declineClass,
        gateway,
        gatewayReference,
        createdAt,
        capturedAt,
      }),
    ),
  };
}

/** Prisma hands a `date` over as midnight in UTC. */
function localDate(date: Date | null): string | null {
  return date ? date.toISOString().slice(0, 10) : null;
}
