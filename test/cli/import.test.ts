import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runImport } from '../../src/cli/import.ts';
import { draftInput, openBillingWorld } from '../support/billing-world.ts';

const world = await openBillingWorld();
const folder = await mkdtemp(join(tmpdir(), 'billonce-import-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Imports these lines and answers the report, the exit code and what was said. */
async function importLines(lines: readonly string[], { json = true } = {}) {
  const file = join(folder, 'drafts.jsonl');
  await writeFile(file, lines.join('\n'));
  const printed: string[] = [];
  const said: string[] = [];
  const terminal = {
    print: (line: string) => void printed.push(line),
    error: (line: string) => void said.push(line),
  };
  const exitCode = await runImport(file, { json }, { createDraft: world.app.createDraft(), terminal });
  return { exitCode, printed, said, report: json ? JSON.parse(printed[0] ?? '') : null };
}

const lineWith = (changes: object, lineChanges: object = {}) => {
  const draft = draftInput();
  return { ...draft, lines: [{ ...draft.lines[0], ...lineChanges }], ...changes };
};

test('bad lines are refused with their number and every fault; good lines go in; again changes nothing', async () => {
  const bad: [object | string, string[]][] = [
    [lineWith({}, { unitPrice: '-1.00' }), ['lines[0].unitPrice']],
    [lineWith({ currency: 'XYZ' }), ['currency']],
    [lineWith({}, { unitPrice: 12.34 }), ['lines[0].unitPrice']],
    [lineWith({ colour: 'blue' }), ['colour']],
    [lineWith({ controlTotal: '99.99' }), ['controlTotal']],
    [lineWith({ customer: undefined }), ['customer']],
    [
      lineWith({ currency: 'XYZ', colour: 'blue', customer: undefined }, { quantity: 1 }),
      ['colour', 'currency', 'customer', 'lines[0].quantity'],
    ],
    ['{"externalId": "broken', ['']],
    ['[]', ['']],
  ];
  const good = [lineWith({ controlTotal: '12.34' }), lineWith({})];
  const lines = [good[0], ...bad.map(([line]) => line), '', good[1]].map((line) =>
    typeof line === 'string' ? line : JSON.stringify(line),
  );

  const first = await importLines(lines);
  expect(first.exitCode).toBe(1);
  expect(first.report).toMatchObject({ created: 2, unchanged: 0 });
  const refused: { line: number; externalId: string | null; faults: { field: string; message: string }[] }[] =
    first.report.refused;
  expect(refused.map(({ line }) => line)).toEqual(bad.map((_, index) => index + 2));
  expect(refused.map(({ faults }) => faults.map(({ field }) => field).sort())).toEqual(
    bad.map(([, fields]) => fields),
  );
  for (const { faults } of refused)
    for (const { message } of faults) expect(message.length).toBeGreaterThan(10);

  const again = await importLines(lines);
  expect(again.report).toMatchObject({ created: 0, unchanged: 2 });
  expect(again.report.refused).toEqual(first.report.refused);
  expect(await world.prisma.invoice.count()).toBe(2);
});

test('the same external id with other content is refused, and nothing is changed', async () => {
  const draft = lineWith({});
  await importLines([JSON.stringify(draft)]);
  const { report, exitCode } = await importLines([JSON.stringify({ ...draft, note: 'another' })]);
  expect(exitCode).toBe(1);
  expect(report.refused).toMatchObject([
    { line: 1, externalId: draft.externalId, faults: [{ field: 'externalId', code: 'different_content' }] },
  ]);
});

test('a series that does not exist is refused by name', async () => {
  const { report } = await importLines([JSON.stringify(lineWith({ series: 'NONE' }))]);
  expect(report.refused).toMatchObject([{ faults: [{ field: 'series', code: 'unknown_series' }] }]);
});

test('a customer that exists with other data is kept, with a warning', async () => {
  const draft = lineWith({});
  await importLines([JSON.stringify(draft)]);
  const other = { ...lineWith({}), customer: { ...draft.customer, name: 'Somebody Else' } };
  const { said, exitCode } = await importLines([JSON.stringify(other)]);
  expect(exitCode).toBe(0);
  expect(said).toEqual(['line 1: warning: the customer exists with other data, which was kept']);
  const customer = await world.prisma.customer.findUniqueOrThrow({
    where: { externalId: draft.customer.externalId },
  });
  expect(customer.name).toBe('Grace Hopper');
});

test('for a person each refusal is a few readable lines', async () => {
  const { printed, said } = await importLines([JSON.stringify(lineWith({ currency: 'XYZ' }))], {
    json: false,
  });
  expect(said.join('\n')).toMatch(/^line 1 \(order-.*\) refused:\n {2}currency: /);
  expect(printed).toEqual(['0 created, 0 unchanged, 1 refused']);
});

test('an import gives no customer a payment method', async () => {
  const draft = lineWith({});
  const { paymentMethod: _, ...customer } = draft.customer;
  await importLines([JSON.stringify({ ...draft, customer })]);
  const row = await world.prisma.customer.findUniqueOrThrow({ where: { externalId: customer.externalId } });
  expect(row.paymentMethod).toBeNull();
});

test('a file that is not there is named', async () => {
  const terminal = { print: () => {}, error: () => {} };
  const needs = { createDraft: world.app.createDraft(), terminal };
  await expect(runImport('/nowhere/drafts.jsonl', { json: true }, needs)).rejects.toMatchObject({
    code: 'invalid',
  });
});
