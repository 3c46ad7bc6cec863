import { afterAll, expect, test } from 'vitest';
import { advisoryLockId, tryAdvisoryLock, withAdvisoryLock } from '../../src/locks/advisory-lock.ts';
import { openPrisma } from '../../src/postgres/prisma.ts';
import { freshDatabase } from '../support/services.ts';

const prisma = openPrisma({ databaseUrl: await freshDatabase(), poolMax: 6, applicationName: 'test' });
afterAll(() => prisma.$disconnect());

const heldLocks = () => prisma.$queryRaw<unknown[]>`SELECT 1 FROM pg_locks WHERE locktype = 'advisory'
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

test('two transactions with one key run one after the other', async () => {
  const steps: string[] = [];
  let release = () => {};
  let entered = () => {};
  const inside = new Promise<void>((resolve) => {
    entered = resolve;
  });
  const first = prisma.$transaction((tx) =>
    withAdvisoryLock(tx, 'invoice:1', async () => {
      steps.push('first in');
      entered();
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      steps.push('first out');
    }),
  );
  await inside;
  const second = prisma.$transaction((tx) =>
    withAdvisoryLock(tx, 'invoice:1', async () => {
      steps.push('second in');
    }),
  );
  await expect.poll(async () => (await heldLocks()).length).toBe(2); // one held, one waited for
  release();
  await Promise.all([first, second]);
  expect(steps).toEqual(['first in', 'first out', 'second in']);
  expect(await heldLocks()).toEqual([]);
});

test('the try form answers false at once, and true for another key', async () => {
  await prisma.$transaction(async (tx) => {
    expect(await tryAdvisoryLock(tx, 'invoice:2')).toBe(true);
    await prisma.$transaction(async (other) => {
      expect(await tryAdvisoryLock(other, 'invoice:2')).toBe(false);
      expect(await tryAdvisoryLock(other, 'invoice:3')).toBe(true);
    });
  });
  expect(await heldLocks()).toEqual([]);
});

test('a rollback lets go', async () => {
  const failing = prisma.$transaction((tx) =>
    withAdvisoryLock(tx, 'invoice:4', () => Promise.reject(new Error('rolled back'))),
  );
  await expect(failing).rejects.toThrow('rolled back');
  expect(await heldLocks()).toEqual([]);
});

test('a key has the same number for ever', () => {
  expect(advisoryLockId('invoice:1')).toBe(advisoryLockId('invoice:1'));
  expect(advisoryLockId('invoice:1')).not.toBe(advisoryLockId('invoice:2'));
});
