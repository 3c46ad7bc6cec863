import { randomUUID } from 'node:crypto';
import { QueueEvents } from 'bullmq';
import { afterAll, describe, expect, test } from 'vitest';
import { openInvoiceLock } from '../../src/locks/invoice-lock.ts';
import { openRedisLockConnection } from '../../src/locks/redis-lock-connection.ts';
import { startInvoiceFinalizer } from '../../workers/invoice-finalizer.ts';
import { startMailSender } from '../../workers/mail-sender.ts';
import { type BillingWorld, eventually, openBillingWorld } from '../support/billing-world.ts';

const closers: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

/** A world with workers, as separate applications. */
async function openWorldWithWorkers(count: number, overrides = {}) {
  const world = await openBillingWorld(overrides);
  const apps = Array.from({ length: count }, world.openAnotherApp);
  const workers = apps.flatMap((app) => [startInvoiceFinalizer(app), startMailSender(app)]);
  const errors: Error[] = [];
  for (const worker of workers) worker.on('error', (error) => errors.push(error));
  closers.push(() => Promise.all(workers.map((worker) => worker.close())));
  const events = new QueueEvents('billing', {
    connection: { url: world.config.redisUrl },
    prefix: world.config.redisPrefix,
  });
  closers.push(() => events.close());
  await events.waitUntilReady();
  const failed: string[] = [];
  events.on('failed', ({ failedReason }) => failed.push(failedReason));
  const billing = world.app.queues().byName.billing;
  return { world, events, failed, errors, billing };
}

/** Holds the lock of an invoice as another process would. */
async function holdLock(world: BillingWorld, invoiceId: string) {
  const connection = await openRedisLockConnection({ url: world.config.redisUrl, logger: world.app.log });
  closers.push(() => connection.close());
  const withLock = openInvoiceLock({
    connection: async () => connection,
    prefix: world.config.redisPrefix,
    log: world.app.log,
  });
  let entered = () => {};
  const inside = new Promise<void>((resolve) => {
    entered = resolve;
  });
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const holder = withLock(invoiceId, () => {
    entered();
    return released;
  });
  await inside;
  return {
    async release() {
      release();
      await holder;
    },
  };
}

test('a draft that the API asked for is numbered, paid and receipted', async () => {
  const { world } = await openWorldWithWorkers(1);
  const invoiceId = await world.draft();
  const accepted = await world.app.requestFinalization()({ id: invoiceId }, { actor: 'test' });
  expect(accepted).toMatchObject({ kind: 'accepted', job: { queue: 'billing' } });
  await eventually(async () => {
    const email = await world.prisma.email.findFirstOrThrow({ where: { invoiceId } });
    expect(email.status).toBe('sent');
    expect(world.mailbox.deliveredCountOf(email.messageId)).toBe(1);
  });
});

test('while the lock is busy the same job waits 5 s and counts no attempt, then completes', {
  timeout: 30_000,
}, async () => {
  const { world, events, failed, errors, billing } = await openWorldWithWorkers(1);
  const invoiceId = await world.wishedDraft();
  const lock = await holdLock(world, invoiceId);
  const delayed = new Promise<{ jobId: string; delay: number }>((resolve) => events.on('delayed', resolve));
  const enqueuedAtMs = Date.now();
  const job = await billing.add('finalize-invoice', { invoiceId }, { attempts: 5 });

  const { jobId, delay } = await delayed;
  expect(jobId).toBe(job.id);
  // QueueEvents gives the time at which the job is due.
  expect(Number(delay) - enqueuedAtMs).toBeGreaterThanOrEqual(4_900);
  expect(Number(delay) - enqueuedAtMs).toBeLessThan(6_500);
  const waiting = await billing.getJob(String(job.id));
  expect(waiting?.attemptsMade).toBe(0);
  expect(waiting?.failedReason).toBeUndefined();
  expect(await waiting?.getState()).toBe('delayed');

  await lock.release();
  expect(await job.waitUntilFinished(events, 15_000)).toBe('paid');
  expect(Date.now() - enqueuedAtMs).toBeGreaterThanOrEqual(4_900);
  const finished = await billing.getJob(String(job.id));
  expect(finished?.attemptsMade).toBe(1); // BullMQ counts the run that completed, and that one alone
  expect({ failed, errors }).toEqual({ failed: [], errors: [] });
  expect((await world.captures(invoiceId)).length).toBe(1);
});

test('a lock that stays busy for too long ends the job with an error of its own, and parks nothing', async () => {
  const { world, events, billing } = await openWorldWithWorkers(1, {
    lockBusyDelayMs: 100,
    lockBusyMaxMs: 400,
  });
  const invoiceId = await world.wishedDraft();
  const lock = await holdLock(world, invoiceId);
  const job = await billing.add('finalize-invoice', { invoiceId }, { attempts: 5 });
  await expect(job.waitUntilFinished(events, 10_000)).rejects.toThrow(/the lock was busy for/);
  expect(await world.prisma.invoice.findUniqueOrThrow({ where: { id: invoiceId } })).toMatchObject({
    parkedAt: null,
    status: 'draft',
  });
  await lock.release();
  await job.retry(); // as from the board
  await eventually(async () => expect(await job.getState()).toBe('completed'));
  expect((await world.captures(invoiceId)).length).toBe(1);
});

describe('a hundred jobs for one invoice before four workers, without deduplication', () => {
  test('one number, one capture, one receipt', { timeout: 60_000 }, async () => {
    const { world, failed, billing } = await openWorldWithWorkers(4, { lockBusyDelayMs: 200 });
    const invoiceId = await world.wishedDraft({ paymentMethod: 'pm_slow' });
    await billing.addBulk(
      Array.from({ length: 100 }, () => ({ name: 'finalize-invoice', data: { invoiceId } })),
    );
    await eventually(async () => expect(await billing.getCompletedCount()).toBe(100), 45_000);
    const email = await world.prisma.email.findFirstOrThrow({ where: { invoiceId } });
    await eventually(() => expect(world.mailbox.deliveredCountOf(email.messageId)).toBe(1));
    expect(await world.prisma.invoice.count({ where: { number: { not: null } } })).toBe(1);
    expect(await world.prisma.numberCounter.findMany({ select: { next: true } })).toEqual([{ next: 2n }]);
    expect((await world.captures()).length).toBe(1);
    expect(await world.prisma.email.count()).toBe(1);
    expect(world.mailbox.deliveredCount()).toBe(1);
    expect(failed).toEqual([]);
  });

  test('of a method that declines: one attempt', { timeout: 60_000 }, async () => {
    const { world, failed, billing } = await openWorldWithWorkers(4, { lockBusyDelayMs: 200 });
    const invoiceId = await world.wishedDraft({ paymentMethod: 'pm_decline_retry' });
    await billing.addBulk(
      Array.from({ length: 100 }, () => ({ name: 'finalize-invoice', data: { invoiceId } })),
    );
    await eventually(async () => expect(await billing.getCompletedCount()).toBe(100), 45_000);
    expect(await world.prisma.payment.findMany({ where: { invoiceId } })).toMatchObject([
      { status: 'declined', sendNo: 1 },
    ]);
    expect(await world.prisma.invoice.findUniqueOrThrow({ where: { id: invoiceId } })).toMatchObject({
      status: 'open',
      declineCount: 1,
    });
    expect(failed).toEqual([]);
  });
});

test.each([
  ['no id', {}],
  ['no UUID', { invoiceId: '1' }],
  ['a field too many', { invoiceId: randomUUID(), amountMinor: '1' }],
])('a payload with %s fails at once and is not tried again', async (_, data) => {
  const { billing, events } = await openWorldWithWorkers(1);
  const job = await billing.add('finalize-invoice', data, { attempts: 5 });
  await expect(job.waitUntilFinished(events, 10_000)).rejects.toThrow(
    /payload of finalize-invoice is invalid/,
  );
  expect((await billing.getJob(String(job.id)))?.attemptsMade).toBe(1);
});
