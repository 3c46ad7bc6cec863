/** The demo as a person runs it, on the services of this run: real API, worker and gateway processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, inject, test } from 'vitest';
import { countNumberGaps } from '../../src/demo/report.ts';

async function demo(...args: string[]) {
  const { databaseUrl, redisUrl } = inject('services');
  const child = spawn(process.execPath, ['dist/src/demo/main.js', '--json', ...args], {
    env: { PATH: process.env.PATH, TEST_DATABASE_URL: databaseUrl, TEST_REDIS_URL: redisUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  const [code] = await once(child, 'exit');
  return { code, report: stdout === '' ? null : JSON.parse(stdout) };
}

test('two workers and a gateway that loses replies and declines: nothing twice, nothing missing', {
  timeout: 90_000,
}, async () => {
  const { code, report } = await demo('--invoices', '40', '--workers', '2', '--faults', '--seed', '7');
  expect(report.problems).toEqual([]);
  expect(code).toBe(0);
  expect(report).toMatchObject({
    invoices: 40,
    numbered: 40,
    numberGaps: 0,
    gateway: { duplicateCaptures: 0 },
  });
  expect(report.payments.declined).toBeGreaterThan(0);
  expect(report.payments.captured + report.payments.declined).toBe(40);
  expect(report.byStatus).toEqual({
    draft: 0,
    open: report.payments.declined,
    paid: report.payments.captured,
    void: 0,
    uncollectible: 0,
  });
  expect(report.receipts).toEqual({
    sent: report.payments.captured,
    delivered: report.payments.captured,
    duplicates: 0,
  });
});

test('words that are off end with exit code 2', async () => {
  expect(await demo('--workers', 'none')).toEqual({ code: 2, report: null });
});

test.each([
  [[], 0],
  [['INV-2026-000001', 'INV-2026-000002'], 0],
  [['INV-2026-000001', 'INV-2026-000003'], 1],
  [['A-3', 'B-1'], 2],
])('the holes in %j are counted: %i', (numbers, gaps) => {
  expect(countNumberGaps(numbers)).toBe(gaps);
});
