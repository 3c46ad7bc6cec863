import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parseCustomer } from '../../src/operations/customer-input.ts';
import { draftInputSchema, parseDraft } from '../../src/operations/draft-input.ts';

type Json = { [field: string]: unknown };

const draft = (changes: Json = {}): Json => ({
  externalId: 'draft-1',
  customer: { externalId: 'customer-1', name: 'Ann Lee' },
  currency: 'EUR',
  lines: [line()],
  ...changes,
});
const line = (changes: Json = {}): Json => ({
  description: 'Team plan',
  quantity: '2',
  unitPrice: '12.50',
  ...changes,
});
const customer = (changes: Json): Json =>
  draft({ customer: { externalId: 'customer-1', name: 'Ann Lee', ...changes } });

describe('a draft', () => {
  test('is taken with nothing but what it needs, and has its defaults filled in', () => {
    const result = accepted(draft());
    expect(result.draft).toEqual({
      ...draft(),
      kind: 'invoice',
      customer: { externalId: 'customer-1', name: 'Ann Lee', emails: [] },
      collectionMethod: 'charge_automatically',
      pricesIncludeTax: false,
      rounding: 'per-rate',
      lines: [{ ...line(), priceBaseQuantity: '1', discounts: [], charges: [] }],
      discounts: [],
      charges: [],
    });
    expect(result.computed.totalMinor).toBe(2500n);
    expect(result.contentHash).toMatch(/^[0-9a-f]{64}$/);
  });

  test('is taken with everything it may have', () => {
    const { draft: taken, computed } = accepted(FULL_DRAFT);
    expect(taken.customer.emails).toEqual(['ann@example.com', 'ap@example.com']);
    expect(taken.customer).not.toHaveProperty('email');
    expect(taken.metadata).toEqual({ order: '4711' });
    expect(computed.totalMinor).toBe(2618n);
  });

  test('with null in a field is a draft without that field', () => {
    const nulls = Object.keys(draftInputSchema.shape)
      .filter((field) => !(field in draft()))
      .map((field) => [field, null]);
    const withNulls = draft({
      ...Object.fromEntries(nulls),
      customer: {
        externalId: 'customer-1',
        name: 'Ann Lee',
        email: null,
        emails: null,
        address: { city: null },
      },
      lines: [line({ priceBaseQuantity: null, taxRatePercent: null, taxCategory: null, discounts: null })],
      metadata: { gone: null },
    });
    const result = accepted(withNulls);
    expect(JSON.stringify(result.draft)).not.toContain('null');
    expect(result.contentHash).toBe(accepted(draft()).contentHash);
  });

  test('that has been taken once is taken again, and has the same content', () => {
    const first = accepted(FULL_DRAFT);
    expect(accepted(first.draft)).toEqual(first);
  });

  test('is accepted for each of the 412 Chinook invoices', () => {
    const lines = readFileSync(join(import.meta.dirname, '../data/chinook-drafts.jsonl'), 'utf8').trim();
    const drafts = lines.split('\n').map((text) => JSON.parse(text) as unknown);
    expect(drafts).toHaveLength(412);
    for (const each of drafts) expect(parseDraft(each)).toMatchObject({ ok: true });
  });

  test('of 10 000 lines is taken, and one line more is too many', () => {
    expect(parseDraft(draft({ lines: Array(10_000).fill(line()) })).ok).toBe(true);
    expect(faultsOf(draft({ lines: Array(10_001).fill(line()) }))).toContainEqual({
      field: 'lines',
      code: 'too_many',
      message: 'lines must have at most 10000 entries',
    });
  });

  test('can be described in JSON Schema, for OpenAPI 3.0 and 3.1', () => {
    for (const target of ['openapi-3.0', 'draft-2020-12'] as const) {
      const schema = z.toJSONSchema(draftInputSchema, { io: 'input', target });
      expect(schema.required).toEqual(['externalId', 'customer', 'currency', 'lines']);
      expect(schema.additionalProperties).toBe(false);
    }
  });
});

describe('the content of a draft', () => {
  const hashOf = (value: unknown) => accepted(value).contentHash;

  test.each<[string, Json]>([
    ['the order of its fields', Object.fromEntries(Object.entries(draft()).reverse())],
    ['a default that is written out', draft({ kind: 'invoice', rounding: 'per-rate', discounts: [] })],
    ['zeros that say nothing', draft({ lines: [line({ quantity: '2.0', unitPrice: '+12.5' })] })],
    ['the tax category that is meant', draft({ lines: [line({ taxRatePercent: '0.0', taxCategory: 'O' })] })],
    ['a control total', draft({ controlTotal: '25' })],
    ["the customer's data", customer({ name: 'Ann B. Lee', email: 'ann@example.com' })],
  ])('is the same whatever %s', (_, same) => {
    expect(hashOf(same)).toBe(hashOf(draft()));
  });

  test.each<[string, Json]>([
    ['quantity', draft({ lines: [line({ quantity: '2.01' })] })],
    ['description', draft({ lines: [line({ description: 'Team plan ' })] })],
    ['one line more', draft({ lines: [line(), line()] })],
    ['rate', draft({ lines: [line({ taxRatePercent: '19' })] })],
    ['customer', customer({ externalId: 'customer-2' })],
    ['currency', draft({ currency: 'USD' })],
    ['rounding', draft({ rounding: 'per-line' })],
    ['discount', draft({ discounts: [{ amount: '1' }] })],
    ['charge', draft({ charges: [{ amount: '1' }] })],
    ['way of collecting', draft({ collectionMethod: 'send_invoice' })],
    ['due date', draft({ dueInDays: 0 })],
    ['note', draft({ note: 'Thank you' })],
    ['metadata', draft({ metadata: { amount: '1' } })],
  ])('is another one with another %s', (_, other) => {
    expect(hashOf(other)).not.toBe(hashOf(draft()));
  });

  test('takes the texts of metadata literally', () => {
    expect(hashOf(draft({ metadata: { amount: '1.0' } }))).not.toBe(
      hashOf(draft({ metadata: { amount: '1' } })),
    );
    expect(hashOf(draft({ metadata: { a: '1', b: '2' } }))).toBe(
      hashOf(draft({ metadata: { b: '2', a: '1' } })),
    );
  });
});

describe('a fault', () => {
  test.each<[string, Json, string, string]>([
    ['no external id', draft({ externalId: null }), 'externalId', 'missing'],
    ['an empty external id', draft({ externalId: '' }), 'externalId', 'too_short'],
    ['a long external id', draft({ externalId: 'x'.repeat(201) }), 'externalId', 'too_long'],
    ['a line break in an id', draft({ externalId: 'a\nb' }), 'externalId', 'invalid_format'],
    ['no lines', draft({ lines: [] }), 'lines', 'too_few'],
    ['lines that are no list', draft({ lines: {} }), 'lines', 'wrong_type'],
    ['an empty line', draft({ lines: [line(), null] }), 'lines[1]', 'wrong_type'],
    ['an unknown field', draft({ total: '1' }), 'total', 'unknown_field'],
    [
      '__proto__',
      JSON.parse(`{"__proto__":{},${JSON.stringify(draft()).slice(1)}`),
      '__proto__',
      'unknown_field',
    ],
    [
      'an unknown field of a line',
      draft({ lines: [line({ price: '1' })] }),
      'lines[0].price',
      'unknown_field',
    ],
    [
      'an unknown field of the address',
      customer({ address: { zip: '1' } }),
      'customer.address.zip',
      'unknown_field',
    ],
    ['a credit note', draft({ kind: 'creditNote' }), 'kind', 'unsupported_kind'],
    ['another kind', draft({ kind: 'receipt' }), 'kind', 'not_one_of'],
    ['no customer', draft({ customer: undefined }), 'customer', 'missing'],
    ['a customer without a name', customer({ name: ' ' }), 'customer.name', 'invalid_format'],
    ['a bad address', customer({ email: 'Ann <ann@example.com>' }), 'customer.email', 'invalid_email'],
    [
      'a bad address in a list',
      customer({ emails: ['a@b.example', 'a@b'] }),
      'customer.emails[1]',
      'invalid_email',
    ],
    [
      'a header in an address',
      customer({ email: 'a@b.example\r\nBcc: c@d.example' }),
      'customer.email',
      'invalid_email',
    ],
    ['a bad locale', customer({ locale: 'de_DE!' }), 'customer.locale', 'invalid_locale'],
    [
      'an unknown time zone',
      customer({ timeZone: 'Mars/Olympus' }),
      'customer.timeZone',
      'invalid_time_zone',
    ],
    ['an offset for a time zone', customer({ timeZone: '+03:00' }), 'customer.timeZone', 'invalid_time_zone'],
    ['a small currency', draft({ currency: 'eur' }), 'currency', 'invalid_format'],
    ['an unknown currency', draft({ currency: 'ABC' }), 'currency', 'unknown_currency'],
    ['no money', draft({ currency: 'XAU' }), 'currency', 'unknown_currency'],
    ['a withdrawn currency', draft({ currency: 'HRK' }), 'currency', 'withdrawn_currency'],
    [
      'a number for a price',
      draft({ lines: [line({ unitPrice: 12.5 })] }),
      'lines[0].unitPrice',
      'wrong_type',
    ],
    ['a comma', draft({ lines: [line({ unitPrice: '12,50' })] }), 'lines[0].unitPrice', 'invalid_format'],
    ['an exponent', draft({ lines: [line({ quantity: '1e3' })] }), 'lines[0].quantity', 'invalid_format'],
    [
      '13 decimals',
      draft({ lines: [line({ quantity: '0.0000000000001' })] }),
      'lines[0].quantity',
      'too_many_digits',
    ],
    [
      'a negative price',
      draft({ lines: [line({ unitPrice: '-1' })] }),
      'lines[0].unitPrice',
      'negative_price',
    ],
    [
      'base quantity 0',
      draft({ lines: [line({ priceBaseQuantity: '0.0' })] }),
      'lines[0].priceBaseQuantity',
      'out_of_range',
    ],
    [
      'base quantity below 0',
      draft({ lines: [line({ priceBaseQuantity: '-1' })] }),
      'lines[0].priceBaseQuantity',
      'out_of_range',
    ],
    [
      'a rate below 0',
      draft({ lines: [line({ taxRatePercent: '-1' })] }),
      'lines[0].taxRatePercent',
      'out_of_range',
    ],
    [
      'a rate above 100',
      draft({ lines: [line({ taxRatePercent: '100.01' })] }),
      'lines[0].taxRatePercent',
      'out_of_range',
    ],
    ['no quantity', draft({ lines: [line({ quantity: null })] }), 'lines[0].quantity', 'missing'],
    ['a discount of nothing', draft({ discounts: [{ reason: 'x' }] }), 'discounts[0]', 'amount_or_percent'],
    [
      'a discount of both',
      draft({ charges: [{ amount: '1', percent: '1' }] }),
      'charges[0]',
      'amount_or_percent',
    ],
    [
      'a discount below 0',
      draft({ lines: [line({ discounts: [{ amount: '-1' }] })] }),
      'lines[0].discounts[0].amount',
      'negative_amount',
    ],
    [
      'a percent above 100',
      draft({ discounts: [{ percent: '101' }] }),
      'discounts[0].percent',
      'out_of_range',
    ],
    [
      'an amount finer than a cent',
      draft({ discounts: [{ amount: '0.005' }] }),
      'discounts[0].amount',
      'too_many_decimals',
    ],
    [
      'a part of a yen',
      draft({ currency: 'JPY', charges: [{ amount: '0.5' }] }),
      'charges[0].amount',
      'too_many_decimals',
    ],
    [
      'a discount that is taxed otherwise',
      draft({ lines: [line({ taxRatePercent: '19', discounts: [{ amount: '1', taxRatePercent: '7' }] })] }),
      'lines[0].discounts[0]',
      'differing_tax',
    ],
    [
      'a control total that differs',
      draft({ controlTotal: '25.01' }),
      'controlTotal',
      'control_total_differs',
    ],
    [
      'a control total finer than a cent',
      draft({ controlTotal: '25.001' }),
      'controlTotal',
      'too_many_decimals',
    ],
    ['a total below 0', draft({ lines: [line({ quantity: '-1' })] }), 'lines', 'negative_total'],
    [
      'a total beyond all columns',
      draft({ lines: [line({ quantity: '1', unitPrice: '92233720368547758.08' })] }),
      'lines',
      'too_large',
    ],
    ['half a day', draft({ dueInDays: 1.5 }), 'dueInDays', 'wrong_type'],
    ['days as text', draft({ dueInDays: '14' }), 'dueInDays', 'wrong_type'],
    ['days before', draft({ dueInDays: -1 }), 'dueInDays', 'out_of_range'],
    ['a long note', draft({ note: 'x'.repeat(10_001) }), 'note', 'too_long'],
    [
      'a description of 3 MB',
      draft({ lines: [line({ description: 'x'.repeat(3_000_000) })] }),
      'lines[0].description',
      'too_long',
    ],
    ['NUL in a text', draft({ note: 'a\0b' }), 'note', 'unsupported_characters'],
    [
      'half of a surrogate pair',
      draft({ lines: [line({ description: 'a\ud800' })] }),
      'lines[0].description',
      'unsupported_characters',
    ],
    ['NUL in a key', draft({ metadata: { 'a\0': 'b' } }), 'metadata.a\ufffd', 'unsupported_characters'],
    ['metadata that is no text', draft({ metadata: { amount: 1 } }), 'metadata.amount', 'wrong_type'],
    [
      'a key of metadata that would be lost',
      draft({ metadata: JSON.parse('{"__proto__":"x"}') }),
      'metadata',
      'invalid_key',
    ],
    [
      'much metadata',
      draft({ metadata: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, ''])) }),
      'metadata',
      'too_many',
    ],
  ])('is %s', (_, value, field, code) => {
    expect(faultsOf(value).map((fault) => [fault.field, fault.code])).toEqual([[field, code]]);
  });

  test.each<[string, Json, string]>([
    [
      'type',
      draft({ lines: [line({ unitPrice: 12.5 })] }),
      'unitPrice must be a decimal string such as "12.50", not a number',
    ],
    [
      'lack',
      draft({ lines: [line({ quantity: undefined })] }),
      'quantity is missing: give a decimal string such as "2"',
    ],
    ['choice', draft({ rounding: 'up' }), 'rounding must be "per-rate" or "per-line"'],
    [
      'total',
      draft({ lines: [line({ quantity: '-1' })] }),
      'the total is -12.50 EUR, and an invoice must not be below 0: give back no more than is charged',
    ],
    [
      'control total',
      draft({ controlTotal: '1' }),
      'controlTotal is 1, but the draft comes to 25.00 EUR: correct one of them',
    ],
  ])('names the remedy for a wrong %s', (_, value, message) => {
    expect(faultsOf(value).map((fault) => fault.message)).toEqual([message]);
  });

  test('does not hide another one, whether of the shape or of a rule', () => {
    const faults = faultsOf({
      externalId: 'draft-1',
      extra: true,
      customer: { externalId: 'c', name: 7, email: 'nobody', timeZone: 'Mars/Olympus' },
      currency: 'HRK',
      lines: [line({ unitPrice: 1 }), line({ unitPrice: '-1', taxRatePercent: '200' }), 'x'],
      discounts: [{ percent: '5', amount: '0.001' }],
    });
    expect(faults.map((fault) => `${fault.field} ${fault.code}`).sort()).toEqual([
      'currency withdrawn_currency',
      'customer.email invalid_email',
      'customer.name wrong_type',
      'customer.timeZone invalid_time_zone',
      'discounts[0] amount_or_percent',
      'discounts[0].amount too_many_decimals',
      'extra unknown_field',
      'lines[0].unitPrice wrong_type',
      'lines[1].taxRatePercent out_of_range',
      'lines[1].unitPrice negative_price',
      'lines[2] wrong_type',
    ]);
  });

  test('elsewhere does not keep the control total from being compared', () => {
    const value = draft({
      externalId: null,
      note: 1,
      currency: 'HRK',
      controlTotal: '1',
      lines: [line({ x: 1 })],
    });
    expect(faultsOf(value).map((fault) => fault.code)).toContain('control_total_differs');
  });

  test('is told with the external id, if there is one', () => {
    expect(parseDraft(draft({ note: 1 }))).toMatchObject({ ok: false, externalId: 'draft-1' });
    expect(parseDraft(draft({ externalId: 1 }))).toMatchObject({ ok: false, externalId: null });
  });

  test.each([[null], [5], ['draft'], [[]], [undefined]])('is an input of %j', (value) => {
    expect(faultsOf(value)).toHaveLength(1);
  });

  test('of an endless nesting is found without following it', () => {
    let nested: unknown = [];
    for (let depth = 0; depth < 100_000; depth += 1) nested = [nested];
    expect(faultsOf(draft({ note: nested })).map((fault) => fault.field)).toEqual(['note']);
    expect(faultsOf(draft({ lines: nested })).map((fault) => fault.field)).toEqual(['lines[0]']);
  });

  test('of an endless list is found without checking all of it', () => {
    const startedMs = performance.now();
    const line = { discounts: Array(100).fill(0) };
    expect(faultsOf(draft({ lines: Array(1_000_000).fill(0) })).length).toBeLessThan(20_000);
    expect(faultsOf(draft({ lines: Array(10_000).fill(line) })).map((fault) => fault.code)).toEqual([
      'too_large',
    ]);
    expect(performance.now() - startedMs).toBeLessThan(5000);
  });

  test('is never an exception, whatever comes in', () => {
    const anything = fc.dictionary(fc.constantFrom(...Object.keys(FULL_DRAFT)), fc.jsonValue());
    fc.assert(
      fc.property(anything, (changes) => {
        expect(parseDraft({ ...FULL_DRAFT, ...changes })).toHaveProperty('ok');
      }),
    );
  });
});

describe('a customer alone', () => {
  test('is taken with its addresses in one list', () => {
    const result = parseCustomer({
      externalId: 'c',
      name: 'Ann',
      email: 'a@b.example',
      emails: ['a@b.example'],
    });
    expect(result).toEqual({
      ok: true,
      customer: {
        externalId: 'c',
        name: 'Ann',
        emails: ['a@b.example'],
        address: null,
        locale: null,
        timeZone: null,
        taxNumber: null,
        paymentMethod: null,
      },
    });
  });

  test('is refused with all of its faults', () => {
    const result = parseCustomer({ externalId: '', name: 'a\0', email: 'a@b', locale: '!', vat: '1' });
    expect(result.ok ? [] : result.faults.map((fault) => `${fault.field} ${fault.code}`).sort()).toEqual([
      'email invalid_email',
      'externalId too_short',
      'locale invalid_locale',
      'name unsupported_characters',
      'vat unknown_field',
    ]);
  });
});

const FULL_DRAFT: Json = {
  externalId: 'draft-2',
  kind: 'invoice',
  customer: {
    externalId: 'customer-1',
    name: 'Ann Lee',
    email: 'ann@example.com',
    emails: ['ap@example.com', 'ann@example.com'],
    address: { line1: 'Ring 1', line2: 'Top 3', city: 'Wien', state: 'W', postalCode: '1010', country: 'AT' },
    locale: 'de-AT',
    timeZone: 'Europe/Vienna',
    taxNumber: 'ATU1',
    paymentMethod: 'pm_ok',
  },
  currency: 'EUR',
  series: 'main',
  collectionMethod: 'send_invoice',
  pricesIncludeTax: false,
  rounding: 'per-line',
  lines: [
    {
      description: 'Team plan\nMarch',
      quantity: '2',
      unitPrice: '12.50',
      priceBaseQuantity: '1',
      taxRatePercent: '19',
      taxCategory: 'S',
      discounts: [{ percent: '10', reason: 'loyal', taxCategory: 'S', taxRatePercent: '19.0' }],
      charges: [{ amount: '0.50' }],
    },
  ],
  discounts: [{ amount: '2.00', reason: 'first order' }],
  charges: [{ amount: '1.00', taxCategory: 'S', taxRatePercent: '19' }],
  dueInDays: 14,
  note: 'Thank you',
  metadata: { order: '4711' },
  controlTotal: '26.18',
};

function accepted(value: unknown) {
  const result = parseDraft(value);
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result;
}

function faultsOf(value: unknown) {
  const result = parseDraft(value);
  return result.ok ? [] : result.faults;
}
