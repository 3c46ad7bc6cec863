/** The demo's report, and what is wrong with it. Its shape is a contract. */
import type { Books } from './observe.ts';

export interface DemoReport {
  invoices: number;
  byStatus: Books['byStatus'];
  numbered: number;
  firstNumber: string | null;
  lastNumber: string | null;
  numberGaps: number;
  gateway: { captures: number; duplicateCaptures: number; capturedMinorByCurrency: Record<string, string> };
  payments: { captured: number; declined: number; requiresAction: number; unknown: number };
  receipts: { sent: number; delivered: number; duplicates: number };
  lockBusy: number;
  wallMs: number;
  invoicesPerSecond: number;
  problems: string[];
}

export interface DemoFacts {
  invoices: number;
  books: Books;
  delivered: number;
  duplicateDeliveries: number;
  lockBusy: number;
  wallMs: number;
  /** Met on the way: refused drafts, processes that ended, a time-out. */
  problems: readonly string[];
}

export function demoReport(facts: DemoFacts): DemoReport {
  const { books } = facts;
  const report: DemoReport = {
    invoices: facts.invoices,
    byStatus: books.byStatus,
    numbered: books.numbers.length,
    firstNumber: books.numbers.at(0) ?? null,
    lastNumber: books.numbers.at(-1) ?? null,
    numberGaps: countNumberGaps(books.numbers),
    gateway: {
      captures: books.captures.length,
      duplicateCaptures: countDuplicateCaptures(books),
      capturedMinorByCurrency: sumByCurrency(books.captures),
    },
    payments: {
      captured: books.byPaymentStatus.captured ?? 0,
      declined: books.byPaymentStatus.declined ?? 0,
      requiresAction: books.byPaymentStatus.requires_action ?? 0,
      unknown: books.byPaymentStatus.unknown ?? 0,
    },
    receipts: { sent: books.receiptsSent, delivered: facts.delivered, duplicates: facts.duplicateDeliveries },
    lockBusy: facts.lockBusy,
    wallMs: Math.round(facts.wallMs),
    invoicesPerSecond: Math.round((books.numbers.length / facts.wallMs) * 1_000 * 10) / 10,
    problems: [...facts.problems],
  };
  report.problems.push(...findProblems(report, books));
  return report;
}

/** Holes in 1..n, for each part of a number before its last digits, which is one series and period. */
export function countNumberGaps(numbers: readonly string[]): number {
  const highest = new Map<string, { count: number; highest: number }>();
  for (const number of new Set(numbers)) {
    const [, prefix = '', digits = '0'] = /^(.*?)(\d+)$/.exec(number) ?? [];
    const seen = highest.get(prefix) ?? { count: 0, highest: 0 };
    highest.set(prefix, { count: seen.count + 1, highest: Math.max(seen.highest, Number(digits)) });
  }
  return [...highest.values()].reduce((gaps, seen) => gaps + seen.highest - seen.count, 0);
}

/** More than one capture under a gateway key, or for one invoice. */
function countDuplicateCaptures({ captures }: Books): number {
  const keys = new Set(captures.map((capture) => capture.gatewayKey)).size;
  const invoices = new Set(captures.map((capture) => capture.metadata.invoiceId)).size;
  return captures.length - Math.min(keys, invoices);
}

function sumByCurrency(captures: Books['captures']): Record<string, string> {
  const sums = new Map<string, bigint>();
  for (const { currency, amountMinor } of captures)
    sums.set(currency, (sums.get(currency) ?? 0n) + amountMinor);
  return Object.fromEntries([...sums].sort().map(([currency, sum]) => [currency, sum.toString()]));
}

function findProblems(report: DemoReport, books: Books): string[] {
  const ours = new Map(books.capturedPayments.map((payment) => [payment.gatewayReference, payment]));
  const lost = books.captures.filter(
    (capture) => ours.get(capture.reference)?.capturedMinor !== capture.amountMinor,
  );
  const unfinished = report.invoices - report.numbered;
  const checks: [boolean, string][] = [
    [unfinished > 0, `${unfinished} invoices have no number`],
    [report.numberGaps > 0, `${report.numberGaps} numbers are missing`],
    [new Set(books.numbers).size < books.numbers.length, 'a number was given twice'],
    [report.gateway.duplicateCaptures > 0, `${report.gateway.duplicateCaptures} captures were made twice`],
    [lost.length > 0, `${lost.length} captures at the gateway are not in the books`],
    [
      report.payments.captured > report.gateway.captures,
      'the books hold captures that the gateway does not know',
    ],
    [report.payments.unknown > 0, `${report.payments.unknown} payments have an unknown outcome`],
    [
      books.openWithoutReason.length > 0,
      `${books.openWithoutReason.length} invoices are open without a reason`,
    ],
    [
      report.receipts.sent + books.receiptsSkipped !== report.payments.captured,
      `${report.payments.captured} payments, but ${report.receipts.sent} receipts sent`,
    ],
    [
      report.receipts.delivered !== report.receipts.sent,
      `${report.receipts.sent} receipts sent, but ${report.receipts.delivered} delivered`,
    ],
    [report.receipts.duplicates > 0, `${report.receipts.duplicates} receipts were delivered twice`],
  ];
  return checks.flatMap(([wrong, problem]) => (wrong ? [problem] : []));
}
