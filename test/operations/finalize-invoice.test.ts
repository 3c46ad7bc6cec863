import { describe, expect, test } from 'vitest';
import { paymentId } from '../../src/billing/payment.ts';
import { openBillingWorld } from '../support/billing-world.ts';

const world = await openBillingWorld();
const { app, prisma } = world;
const context = { actor: 'test', jobName: 'finalize-invoice' };
const finalize = (invoiceId: string) => app.finalizeInvoice()({ invoiceId }, context);
const invoiceOf = (id: string) =>
  prisma.invoice.findUniqueOrThrow({
    where: { id },
    include: { payments: true, emails: true, events: { orderBy: { at: 'asc' } } },
  });

describe('a draft with a wish', () => {
  test('becomes a numbered, paid invoice with one receipt waiting, and the trail says so', async () => {
    const id = await world.wishedDraft();
    expect(await finalize(id)).toBe('paid');
    const invoice = await invoiceOf(id);
    expect(invoice).toMatchObject({ status: 'paid', paidMinor: 1234n, openPaymentId: null, attemptSeq: 1 });
    expect(invoice.number).toMatch(/^INV-\d{4}-\d{6}$/);
    expect(invoice.payments).toMatchObject([
      { status: 'captured', capturedMinor: 1234n, sendNo: 1, uncertainSends: 0 },
    ]);
    expect(invoice.emails).toMatchObject([{ kind: 'receipt', status: 'pending' }]);
    expect(invoice.events.map((event) => event.type)).toEqual([
      'invoice.created',
      'invoice.finalization_requested',
      'invoice.finalized',
      'payment.sent',
      'payment.captured',
      'invoice.paid',
    ]);
    expect(await world.captures(id)).toMatchObject([
      { amountMinor: 1234n, currency: 'EUR', metadata: { invoiceId: id, number: invoice.number } },
    ]);
  });

  test('run twice: the second run finds nothing left but the reminder of the receipt', async () => {
    const id = await world.wishedDraft();
    expect([await finalize(id), await finalize(id)]).toEqual(['paid', 'already-paid']);
    expect((await world.captures(id)).length).toBe(1);
    expect((await invoiceOf(id)).emails.length).toBe(1);
  });

  test('run by ten at once: one number, one capture, and the others find the lock busy or the work done', async () => {
    const id = await world.wishedDraft();
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => finalize(id)));
    expect(outcomes.filter((outcome) => outcome === 'paid').length).toBe(1);
    expect(outcomes.every((outcome) => ['paid', 'lock-busy', 'already-paid'].includes(outcome))).toBe(true);
    expect((await world.captures(id)).length).toBe(1);
  });

  test('fifty in one series at once get fifty consecutive numbers', async () => {
    const fresh = await openBillingWorld();
    const ids = await Promise.all(Array.from({ length: 50 }, () => fresh.wishedDraft()));
    await Promise.all(ids.map((invoiceId) => fresh.app.finalizeInvoice()({ invoiceId }, context)));
    const rows = await fresh.prisma.invoice.findMany({
      select: { number: true },
      orderBy: { number: 'asc' },
    });
    expect(rows.map(({ number }) => Number(number?.slice(-6)))).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 1),
    );
  });

  test('with a total of zero is paid at once, without an attempt, a call or a receipt', async () => {
    const id = await world.wishedDraft({ unitPrice: '0' });
    expect(await finalize(id)).toBe('paid');
    const invoice = await invoiceOf(id);
    expect(invoice).toMatchObject({ status: 'paid', payments: [], emails: [] });
    expect(invoice.number).not.toBeNull();
  });

  test('that the customer pays by transfer is numbered and left open', async () => {
    const id = await world.wishedDraft({ collectionMethod: 'send_invoice' });
    expect(await finalize(id)).toBe('open-send-invoice');
    expect(await invoiceOf(id)).toMatchObject({ status: 'open', payments: [], attemptSeq: 0 });
  });

  test('without a payment method is open for that reason, and charged when one is added', async () => {
    const id = await world.wishedDraft({ paymentMethod: null });
    expect(await finalize(id)).toBe('open-no-method');
    const { customerId } = await invoiceOf(id);
    expect(await finalize(id)).toBe('open-no-method');
    expect(await invoiceOf(id)).toMatchObject({ status: 'open', payments: [], attemptSeq: 0 });
    await prisma.customer.update({ where: { id: customerId }, data: { paymentMethod: 'pm_ok' } });
    expect(await finalize(id)).toBe('paid');
    expect((await invoiceOf(id)).payments).toMatchObject([{ status: 'captured', requestId: 'auto-1' }]);
  });
});

test('a draft without a wish is never finalized, whoever enqueues it', async () => {
  const id = await world.draft();
  expect(await finalize(id)).toBe('nothing-to-do');
  expect(await invoiceOf(id)).toMatchObject({ status: 'draft', number: null });
});

test('a draft that was changed after the wish is left alone: the wish was for another version', async () => {
  const id = await world.wishedDraft();
  await prisma.invoice.update({ where: { id }, data: { version: 2 } });
  expect(await finalize(id)).toBe('nothing-to-do');
  expect(await invoiceOf(id)).toMatchObject({ status: 'draft', number: null });
});

describe('a decline', () => {
  test.each([
    ['pm_decline_retry', 'retry_later', true],
    ['pm_decline_act', 'customer_must_act', false],
    ['pm_decline_stop', 'stop', false],
  ] as const)(
    '%s leaves the invoice open with its reason (%s)',
    async (paymentMethod, declineClass, triedAgain) => {
      const id = await world.wishedDraft({ paymentMethod });
      expect(await finalize(id)).toBe('open-declined');
      const invoice = await invoiceOf(id);
      expect(invoice).toMatchObject({
        status: 'open',
        paidMinor: 0n,
        declineCount: 1,
        openPaymentId: null,
        emails: [],
      });
      expect(invoice.nextAttemptAt !== null).toBe(triedAgain);
      expect(invoice.payments).toMatchObject([{ status: 'declined', declineClass }]);
      expect(await finalize(id)).toBe('open-declined');
      expect((await invoiceOf(id)).payments.length).toBe(1);
    },
  );

  test('is followed by a new attempt with a new key once its time has come', async () => {
    const id = await world.wishedDraft({ paymentMethod: 'pm_decline_retry' });
    await finalize(id);
    const { customerId, payments } = await invoiceOf(id);
    await prisma.customer.update({ where: { id: customerId }, data: { paymentMethod: 'pm_ok' } });
    await prisma.invoice.update({ where: { id }, data: { nextAttemptAt: new Date(Date.now() - 1_000) } });
    expect(await finalize(id)).toBe('paid');
    const after = await invoiceOf(id);
    expect(after).toMatchObject({ status: 'paid', attemptSeq: 2 });
    expect(new Set(after.payments.map((payment) => payment.gatewayKey)).size).toBe(2);
    expect(after.payments.map((payment) => payment.id)).toContain(payments[0]?.id);
  });
});

describe('an answer that was lost', () => {
  test.each(['pm_ok_lost_reply', 'pm_not_executed'])(
    '%s: the same key again at once, one capture',
    async (paymentMethod) => {
      const id = await world.wishedDraft({ paymentMethod });
      expect(await finalize(id)).toBe('paid');
      expect((await world.captures(id)).length).toBe(1);
      expect((await invoiceOf(id)).payments).toMatchObject([
        { status: 'captured', sendNo: 2, uncertainSends: 1 },
      ]);
    },
  );

  test('a sender that died after the gateway accepted: the next run sends the same key and settles', async () => {
    const id = await world.wishedDraft();
    const attempt = {
      paymentId: paymentId(id, 'auto-1'),
      requestId: 'auto-1',
      gateway: 'sandbox',
      gatewayKey: `billonce-${paymentId(id, 'auto-1')}`,
      descriptor: 'YOUR COMPANY',
    };
    const store = (await import('../../src/postgres/payments.ts')).openPaymentStore(prisma, {
      mailDomain: 'example.test',
    });
    const finalized = await store.finalize(id, 1, attempt, context);
    if (finalized.kind !== 'finalized' || !finalized.payment) throw new Error('it was not finalized');
    expect((await app.gateway().capture(finalized.payment)).kind).toBe('captured'); // and then nothing was written
    expect(await finalize(id)).toBe('paid');
    expect((await world.captures(id)).length).toBe(1);
    expect((await invoiceOf(id)).payments).toMatchObject([
      { status: 'captured', sendNo: 2, uncertainSends: 1 },
    ]);
  });
});

test('a parked invoice is left as it is', async () => {
  const id = await world.wishedDraft();
  await prisma.invoice.update({ where: { id }, data: { parkedAt: new Date(), parkedReason: 'test' } });
  expect(await finalize(id)).toBe('parked');
  expect(await invoiceOf(id)).toMatchObject({ status: 'draft', number: null });
});

test('a payment method that the gateway does not know parks the invoice, and nothing was sent', async () => {
  const id = await world.wishedDraft({ paymentMethod: 'pm_of_somebody_else' });
  expect(await finalize(id)).toBe('parked');
  const invoice = await invoiceOf(id);
  expect(invoice.parkedReason).not.toBeNull();
  expect(invoice.payments).toMatchObject([{ status: 'created' }]);
  expect(await finalize(id)).toBe('parked');
});

test('an invoice that does not exist is an error of its own', async () => {
  await expect(finalize('018f0000-0000-7000-8000-00000000dead')).rejects.toMatchObject({ code: 'not_found' });
});
