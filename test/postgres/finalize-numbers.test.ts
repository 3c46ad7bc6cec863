import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { type NumberReset, periodOf, renderInvoiceNumber } from '../../src/billing/invoice-number.ts';
import { openBillingWorld } from '../support/billing-world.ts';

const world = await openBillingWorld();
const { prisma } = world;
const context = { actor: 'test', jobName: 'finalize-invoice' };

/** Finalizes a draft of a new series whose counter stands at `next`. */
async function finalizeIn(series: { format: string; reset: NumberReset; next?: bigint }) {
  const seller = await prisma.seller.findFirstOrThrow();
  const seriesId = randomUUID();
  await prisma.numberSeries.create({
    data: { id: seriesId, sellerId: seller.id, code: seriesId, format: series.format, reset: series.reset },
  });
  const today = new Date().toISOString().slice(0, 10);
  const next = series.next ?? 1n;
  if (next > 1n)
    await prisma.numberCounter.create({ data: { seriesId, period: periodOf(series.reset, today), next } });
  const invoiceId = await world.draft();
  await prisma.invoice.update({ where: { id: invoiceId }, data: { seriesId } });
  await world.app.invoices().requestFinalization({ id: invoiceId }, context);
  await world.app.finalizeInvoice()({ invoiceId }, context);
  const invoice = await prisma.invoice.findUniqueOrThrow({ where: { id: invoiceId } });
  const counter = await prisma.numberCounter.findFirstOrThrow({ where: { seriesId } });
  return {
    number: invoice.number,
    date: String(invoice.issueDate?.toISOString().slice(0, 10)),
    counter,
    next,
  };
}

test.each([
  { format: 'A-{YYYY}-{SEQ:6}', reset: 'yearly' },
  { format: 'B{YY}{MM}-{SEQ:4}', reset: 'monthly' },
  { format: '{SEQ:1}/C', reset: 'never' },
  { format: 'D{SEQ:3}-{YYYY}{MM}', reset: 'monthly', next: 42n },
  { format: 'E-{SEQ:2}', reset: 'never', next: 12_345n },
] as const)('the statement and the rule agree on $format ($reset)', async (series) => {
  const { number, date, counter, next } = await finalizeIn(series);
  expect(number).toBe(renderInvoiceNumber(series.format, date, next));
  expect(counter).toMatchObject({ period: periodOf(series.reset, date), next: next + 1n });
});

test('the first of a period, ten at once: exactly one 1', async () => {
  const fresh = await openBillingWorld();
  const ids = await Promise.all(Array.from({ length: 10 }, () => fresh.wishedDraft()));
  await Promise.all(ids.map((invoiceId) => fresh.app.finalizeInvoice()({ invoiceId }, context)));
  const numbers = (await fresh.prisma.invoice.findMany({ select: { number: true } })).map(({ number }) =>
    Number(number?.slice(-6)),
  );
  expect(numbers.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('a statement that fails gives its number back', async () => {
  const fresh = await openBillingWorld();
  const [failing, next] = [await fresh.wishedDraft(), await fresh.wishedDraft()];
  // The attempt cannot be inserted, after the number was taken.
  await fresh.prisma.$executeRaw`ALTER TABLE payments ADD CONSTRAINT fails CHECK (amount_minor <> 1234)`;
  await expect(fresh.app.finalizeInvoice()({ invoiceId: failing }, context)).rejects.toThrow();
  await fresh.prisma.$executeRaw`ALTER TABLE payments DROP CONSTRAINT fails`;
  await fresh.app.finalizeInvoice()({ invoiceId: next }, context);
  const rows = await fresh.prisma.invoice.findMany({ where: { number: { not: null } } });
  expect(rows.map(({ id, number }) => [id, Number(number?.slice(-6))])).toEqual([[next, 1]]);
});

test('the issue date of a series never goes back', async () => {
  const fresh = await openBillingWorld();
  const future = new Date(Date.now() + 3 * 24 * 60 * 60 * 1_000).toISOString().slice(0, 10);
  await fresh.prisma.numberSeries.updateMany({ data: { lastIssueDate: new Date(future) } });
  const invoiceId = await fresh.wishedDraft();
  await fresh.app.finalizeInvoice()({ invoiceId }, context);
  const invoice = await fresh.prisma.invoice.findUniqueOrThrow({ where: { id: invoiceId } });
  expect(invoice.issueDate?.toISOString().slice(0, 10)).toBe(future);
});
