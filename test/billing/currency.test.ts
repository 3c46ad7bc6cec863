import { describe, expect, test } from 'vitest';
import { currencyOf, findCurrency } from '../../src/billing/currency.ts';

describe('a currency', () => {
  test.each([
    ['JPY', 0],
    ['KRW', 0],
    ['UGX', 0],
    ['ISK', 0],
    ['CLP', 0],
    ['VND', 0],
    ['XOF', 0],
    ['EUR', 2],
    ['USD', 2],
    ['HUF', 2],
    ['IDR', 2],
    ['COP', 2],
    ['PKR', 2],
    ['XCG', 2],
    ['MGA', 2],
    ['KWD', 3],
    ['BHD', 3],
    ['OMR', 3],
    ['TND', 3],
    ['CLF', 4],
    ['UYW', 4],
  ])('%s has %i decimals and is in use', (code, exponent) => {
    expect(currencyOf(code)).toEqual({ code, exponent, withdrawn: false });
  });

  test.each([
    ['HRK', 2],
    ['BGN', 2],
    ['ANG', 2],
    ['DEM', 2],
    ['LTL', 2],
    ['ITL', 0],
    ['BYR', 0],
  ])('%s had %i decimals and is withdrawn', (code, exponent) => {
    expect(currencyOf(code)).toEqual({ code, exponent, withdrawn: true });
  });

  test.each(['', 'eur', 'EURO', 'ABC', 'XXX', 'XTS', 'XAU', 'XDR', '__proto__'])('%j is none', (code) => {
    expect(findCurrency(code)).toBeNull();
    expect(() => currencyOf(code)).toThrow('no currency');
  });
});
