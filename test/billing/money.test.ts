import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalDecimal, parseDecimal } from '../../src/billing/decimal.ts';
import { divideRounded, formatMoney, parseMoney, roundToMinor } from '../../src/billing/money.ts';

describe('an amount of money', () => {
  test.each([
    ['12.50', 2, 1250n],
    ['12.5', 2, 1250n],
    ['12', 2, 1200n],
    ['12.5000', 2, 1250n],
    ['-0.01', 2, -1n],
    ['+0.10', 2, 10n],
    ['-0', 2, 0n],
    ['007', 2, 700n],
    ['500', 0, 500n],
    ['500.0', 0, 500n],
    ['1.234', 3, 1234n],
    ['0.0001', 4, 1n],
    ['92233720368547758.07', 2, 9_223_372_036_854_775_807n],
  ])('%s with %i decimals is %s minor units', (text, exponent, minor) => {
    expect(parseMoney(text, exponent)).toBe(minor);
  });

  test.each(['12.505', '0.001'])('%s is refused where there are two decimals', (text) => {
    expect(() => parseMoney(text, 2)).toThrow('more than the 2 decimals');
  });

  test.each([
    '',
    ' 1',
    '1 ',
    '1e3',
    '1,5',
    '.5',
    '5.',
    '1_000',
    '0x10',
    'NaN',
    'Infinity',
    '--1',
    '١',
    '1\n',
  ])('%j is no decimal', (text) => {
    expect(() => parseMoney(text, 2)).toThrow('is no decimal');
  });

  test.each([
    [1250n, 2, '12.50'],
    [5n, 2, '0.05'],
    [-5n, 2, '-0.05'],
    [0n, 2, '0.00'],
    [0n, 0, '0'],
    [-500n, 0, '-500'],
    [7n, 4, '0.0007'],
    [-123_456n, 3, '-123.456'],
  ])('%s minor units with %i decimals are written %s', (minor, exponent, text) => {
    expect(formatMoney(minor, exponent)).toBe(text);
  });

  test('is read back as it was written', () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 70n), 2n ** 70n), fc.integer({ min: 0, max: 4 }), (minor, exponent) => {
        expect(parseMoney(formatMoney(minor, exponent), exponent)).toBe(minor);
      }),
    );
  });
});

describe('rounding', () => {
  test.each([
    ['0.005', 1n],
    ['-0.005', -1n],
    ['0.0049999999999', 0n],
    ['1.005', 101n],
    ['2.675', 268n],
    ['815.955', 81596n],
    ['-815.955', -81596n],
  ])('takes %s half away from zero to %s', (text, minor) => {
    expect(roundToMinor(parseDecimal(text), 2)).toBe(minor);
  });

  test('of a fraction follows the same rule as that of a decimal', () => {
    fc.assert(
      fc.property(fc.bigInt(-(10n ** 20n), 10n ** 20n), (thousandths) => {
        expect(divideRounded(thousandths, 10n)).toBe(
          roundToMinor(parseDecimal(formatMoney(thousandths, 3)), 2),
        );
      }),
    );
  });
});

describe('the one way to write a decimal', () => {
  test.each([
    ['1.0', '1'],
    ['+1', '1'],
    ['001.50', '1.5'],
    ['-0.00', '0'],
    ['0', '0'],
    ['-0.5', '-0.5'],
    ['10', '10'],
    ['0.000000000001', '0.000000000001'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
  ])('%s is %s', (text, canonical) => {
    expect(canonicalDecimal(text)).toBe(canonical);
    expect(canonicalDecimal(canonical)).toBe(canonical);
  });
});
