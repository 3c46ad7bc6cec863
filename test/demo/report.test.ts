/** The report must find what is wrong: a check that cannot fail proves nothing. */
import { expect, test } from 'vitest';
import type { Books } from '../../src/demo/observe.ts';
import { type DemoFacts, demoReport } from '../../src/demo/report.ts';

const captureOf = (id: string) => ({
  reference: `cap_${id}`,
  gatewayKey: `key-${id}`,
  amountMinor: 100n,
  currency: 'EUR',
  capturedAt: new Date(0),
  metadata: { paymentId: `payment-${id}`, invoiceId: `invoice-${id}`, externalId: id, number: `INV-${id}` },
});
const paymentOf = (id: string) => ({
  id: `payment-${id}`,
  gatewayReference: `cap_${id}`,
  capturedMinor: 100n,
  currency: 'EUR',
});

const BOOKS: Books = {
  byStatus: { draft: 0, open: 0, paid: 2, void: 0, uncollectible: 0 },
  byPaymentStatus: { captured: 2 },
  numbers: ['INV-1', 'INV-2'],
  capturedPayments: [paymentOf('1'), paymentOf('2')],
  openWithoutReason: [],
  receiptsSent: 2,
  receiptsSkipped: 0,
  captures: [captureOf('1'), captureOf('2')],
};

function problemsOf(books: Partial<Books>, facts: Partial<DemoFacts> = {}): string[] {
  const all = {
    invoices: 2,
    delivered: 2,
    duplicateDeliveries: 0,
    lockBusy: 0,
    wallMs: 1_000,
    problems: [],
    ...facts,
  };
  return demoReport({ ...all, books: { ...BOOKS, ...books } }).problems;
}

test('good books have no problems', () => {
  expect(problemsOf({})).toEqual([]);
  expect(problemsOf({ receiptsSent: 1, receiptsSkipped: 1 }, { delivered: 1 })).toEqual([]);
});

test.each<[string, Partial<Books>, Partial<DemoFacts>, RegExp]>([
  ['an invoice without a number', { numbers: ['INV-1'] }, {}, /1 invoices have no number/],
  ['a hole in the numbers', { numbers: ['INV-1', 'INV-3'] }, {}, /1 numbers are missing/],
  ['a number given twice', { numbers: ['INV-1', 'INV-1'] }, {}, /given twice/],
  [
    'a second capture under a key',
    { captures: [captureOf('1'), captureOf('2'), captureOf('2')] },
    {},
    /1 captures were made twice/,
  ],
  [
    'a second capture of an invoice',
    {
      captures: [
        captureOf('1'),
        captureOf('2'),
        { ...captureOf('2'), gatewayKey: 'another', reference: 'cap_3' },
      ],
    },
    {},
    /1 captures were made twice/,
  ],
  [
    'a capture that we do not know',
    { capturedPayments: [paymentOf('1')] },
    {},
    /1 captures at the gateway are not in the books/,
  ],
  [
    'a capture of another amount',
    { capturedPayments: [paymentOf('1'), { ...paymentOf('2'), capturedMinor: 99n }] },
    {},
    /not in the books/,
  ],
  [
    'a capture that the gateway does not know',
    { captures: [captureOf('1')] },
    {},
    /the gateway does not know/,
  ],
  [
    'an unknown outcome',
    { byPaymentStatus: { captured: 2, unknown: 1 } },
    {},
    /1 payments have an unknown outcome/,
  ],
  [
    'an open invoice without a reason',
    { openWithoutReason: ['x'] },
    {},
    /1 invoices are open without a reason/,
  ],
  ['a receipt that was not sent', { receiptsSent: 1 }, { delivered: 1 }, /2 payments, but 1 receipts sent/],
  ['a receipt that did not arrive', {}, { delivered: 1 }, /2 receipts sent, but 1 delivered/],
  ['a receipt that arrived twice', {}, { duplicateDeliveries: 1 }, /1 receipts were delivered twice/],
  ['what was met on the way', {}, { problems: ['bad-1 was refused'] }, /bad-1 was refused/],
])('%s is found', (_, books, facts, problem) => {
  expect(problemsOf(books, facts)).toEqual(expect.arrayContaining([expect.stringMatching(problem)]));
});
