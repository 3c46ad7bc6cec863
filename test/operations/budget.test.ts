/** What one invoice costs, counted by the server and not by reading the code. */
import { expect, test } from 'vitest';
import { openBillingWorld } from '../support/billing-world.ts';

test('the happy path takes 3 statements, 2 commits and 1 call to the gateway', async () => {
  const world = await openBillingWorld();
  const { prisma } = world;
  const context = { actor: 'test', jobName: 'finalize-invoice' };
  await prisma.$executeRaw`CREATE EXTENSION pg_stat_statements`;
  await world.app.finalizeInvoice()({ invoiceId: await world.wishedDraft() }, context); // connections are open now
  const invoiceId = await world.wishedDraft();
  const before = await counted();
  expect(await world.app.finalizeInvoice()({ invoiceId }, context)).toBe('paid');
  const after = await counted();

  const ran = after.flatMap((statement) => {
    const earlier = before.find(({ queryid }) => queryid === statement.queryid);
    const calls = Number(statement.calls - (earlier?.calls ?? 0n));
    const writes = statement.wal_records > (earlier?.wal_records ?? 0);
    return calls > 0 && !statement.query.includes('pg_stat_statements') ? [{ calls, writes }] : [];
  });
  expect(ran.reduce((sum, { calls }) => sum + calls, 0)).toBe(3);
  expect(ran.filter(({ writes }) => writes).reduce((sum, { calls }) => sum + calls, 0)).toBe(2);
  expect((await world.captures(invoiceId)).length).toBe(1);

  async function counted() {
    return prisma.$queryRaw<{ queryid: bigint; calls: bigint; wal_records: number; query: string }[]>`
      SELECT queryid, sum(calls)::bigint AS calls, sum(wal_records)::float8 AS wal_records, min(query) AS query
      FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
      GROUP BY queryid`;
  }
});
