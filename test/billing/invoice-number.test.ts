import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type NumberReset,
  parseNumberFormat,
  periodOf,
  renderInvoiceNumber,
} from '../../src/billing/invoice-number.ts';

describe('an invoice number', () => {
  test.each([
    ['INV-{YYYY}-{SEQ:6}', '2026-03-09', 1n, 'INV-2026-000001'],
    ['{YY}{MM}/{SEQ:3}', '2026-03-09', 42n, '2603/042'],
    ['{SEQ:1}', '2026-12-31', 7n, '7'],
    ['R {SEQ:2} #{YYYY}', '0999-01-01', 5n, 'R 05 #0999'],
    ['{YYYY}-{MM}-{YYYY}-{SEQ:4}', '2026-11-30', 12n, '2026-11-2026-0012'],
    ['Rechnung-Ä-{SEQ:4}', '2026-11-30', 12n, 'Rechnung-Ä-0012'],
    ['{SEQ:2}', '2026-11-30', 9_223_372_036_854_775_807n, '9223372036854775807'],
  ])('%s on %s, %s, is %s', (format, date, seq, number) => {
    expect(renderInvoiceNumber(format, date, seq)).toBe(number);
  });

  test('widens when its digits are used up, and never wraps', () => {
    const numbers = [998n, 999n, 1000n, 1001n].map((seq) =>
      renderInvoiceNumber('A{SEQ:3}', '2026-01-01', seq),
    );
    expect(numbers).toEqual(['A998', 'A999', 'A1000', 'A1001']);
  });

  test('is another one for every counter, wherever the digits of the date stand', () => {
    const formats = ['{YY}{SEQ:1}', '{SEQ:1}{YY}', '{MM}{SEQ:2}{YYYY}', '1{SEQ:1}1'];
    const seq = fc.bigInt(1n, 10n ** 9n);
    fc.assert(
      fc.property(fc.constantFrom(...formats), seq, seq, (format, a, b) => {
        const number = (counter: bigint) => renderInvoiceNumber(format, '2026-07-01', counter);
        expect(number(a) === number(b)).toBe(a === b);
      }),
    );
  });

  test('needs a date', () => {
    for (const date of ['', '2026-1-1', '2026-13-01', '2026-00-01', '2026-01-32', '2026-01-01T00:00']) {
      expect(() => renderInvoiceNumber('{SEQ:1}', date, 1n)).toThrow('is no date');
    }
  });
});

describe('the format of a series', () => {
  test.each<[string, NumberReset]>([
    ['{SEQ:6}', 'never'],
    ['INV-{YYYY}-{SEQ:6}', 'yearly'],
    ['INV-{YY}-{SEQ:6}', 'yearly'],
    ['{YYYY}{MM}{SEQ:4}', 'monthly'],
    ['INV-{YYYY}-{SEQ:18}', 'never'],
  ])('%s is good for a counter that starts again %s', (format, reset) => {
    expect(() => parseNumberFormat(format, reset)).not.toThrow();
  });

  test.each<[string, NumberReset, string]>([
    ['INV', 'never', 'exactly one {SEQ:n}'],
    ['', 'never', 'exactly one {SEQ:n}'],
    ['{SEQ:3}{SEQ:3}', 'never', 'exactly one {SEQ:n}'],
    ['{SEQ:3}', 'yearly', '{YYYY} or {YY}'],
    ['{MM}-{SEQ:3}', 'yearly', '{YYYY} or {YY}'],
    ['{MM}-{SEQ:3}', 'monthly', '{YYYY} or {YY}'],
    ['{YYYY}-{SEQ:3}', 'monthly', '{MM}'],
    ['{SEQ:0}', 'never', 'from 1 to 18'],
    ['{SEQ:03}', 'never', 'from 1 to 18'],
    ['{SEQ:19}', 'never', 'from 1 to 18'],
    ['{SEQ}', 'never', 'a stray {'],
    ['{DD}{SEQ:3}', 'never', 'a stray {'],
    ['{yyyy}{SEQ:3}', 'never', 'a stray {'],
    ['}{SEQ:3}', 'never', 'a stray }'],
    ['{{SEQ:3}}', 'never', 'a stray {'],
    ['A\n{SEQ:3}', 'never', 'may hold letters'],
    ['<b>{SEQ:3}', 'never', 'may hold letters'],
    [`${'A'.repeat(60)}{SEQ:3}`, 'never', '64 characters'],
  ])('%j that starts again %s is refused: %s', (format, reset, rule) => {
    expect(() => parseNumberFormat(format, reset)).toThrow(rule);
  });

  test.each<[NumberReset, string]>([
    ['never', ''],
    ['yearly', '2026'],
    ['monthly', '2026-03'],
  ])('that starts again %s counts 9 March 2026 in the period %j', (reset, period) => {
    expect(periodOf(reset, '2026-03-09')).toBe(period);
  });
});
