/** What the database, the gateway's own ledger and the SMTP server say; the demo believes nobody's word for it. */
import type { Gateway, GatewayCapture } from '../operations/ports.ts';
import type { PrismaClient } from '../postgres/generated/client.ts';
import type { InvoiceStatus, PaymentStatus } from '../postgres/generated/enums.ts';

export interface Progress {
  invoices: number;
  numbered: number;
  /** Nothing is in flight for these any more: paid, or open with a reason. */
  settled: number;
  receiptsOwed: number;
  receiptsEnded: number;
}

export async function observeProgress(prisma: PrismaClient): Promise<Progress> {
  const [invoices, numbered, inFlight, receiptsOwed, receiptsEnded] = await Promise.all([
    prisma.invoice.count(),
    prisma.invoice.count({ where: { number: { not: null } } }),
    prisma.invoice.count({ where: { number: { not: null }, openPaymentId: { not: null } } }),
    prisma.payment.count({ where: { status: 'captured' } }),
    prisma.email.count({ where: { kind: 'receipt', status: { notIn: ['pending', 'sending'] } } }),
  ]);
  return { invoices, numbered, settled: numbered - inFlight, receiptsOwed, receiptsEnded };
}

export function isSettled(progress: Progress, expected: number): boolean {
  return (
    progress.invoices === expected &&
    progress.settled === expected &&
    progress.receiptsEnded === progress.receiptsOwed
  );
}

export interface Books {
  byStatus: Record<InvoiceStatus, number>;
  byPaymentStatus: Partial<Record<PaymentStatus, number>>;
  numbers: string[];
  capturedPayments: {
    id: string;
    gatewayReference: string | null;
    capturedMinor: bigint;
    currency: string;
  }[];
  /** Open invoices for which no attempt says why. */
  openWithoutReason: string[];
  receiptsSent: number;
  /** Owed to customers without an address: an end, and no fault. */
  receiptsSkipped: number;
  captures: GatewayCapture[];
}

export async function readBooks(
  prisma: PrismaClient,
  gateway: Pick<Gateway, 'listCaptures'>,
): Promise<Books> {
  const [
    statuses,
    paymentStatuses,
    numbered,
    capturedPayments,
    openWithoutReason,
    receiptsSent,
    receiptsSkipped,
  ] = await Promise.all([
    prisma.invoice.groupBy({ by: ['status'], _count: true }),
    prisma.payment.groupBy({ by: ['status'], _count: true }),
    prisma.invoice.findMany({ where: { number: { not: null } }, select: { number: true } }),
    prisma.payment.findMany({
      where: { status: 'captured' },
      select: { id: true, gatewayReference: true, capturedMinor: true, currency: true },
    }),
    prisma.invoice.findMany({
      where: { status: 'open', payments: { none: { status: 'declined', declineCode: { not: null } } } },
      select: { externalId: true },
    }),
    prisma.email.count({ where: { kind: 'receipt', status: 'sent' } }),
    prisma.email.count({ where: { kind: 'receipt', status: 'skipped' } }),
  ]);
  const byStatus = { draft: 0, open: 0, paid: 0, void: 0, uncollectible: 0 };
  for (const { status, _count } of statuses) byStatus[status] = _count;
  return {
    byStatus,
    byPaymentStatus: Object.fromEntries(paymentStatuses.map(({ status, _count }) => [status, _count])),
    numbers: numbered.flatMap(({ number }) => (number === null ? [] : [number])).sort(),
    capturedPayments,
    openWithoutReason: openWithoutReason.map(({ externalId }) => externalId),
    receiptsSent,
    receiptsSkipped,
    captures: await collect(gateway.listCaptures()),
  };
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
