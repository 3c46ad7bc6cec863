import Big from 'big.js';
import { BillingError } from '../errors.ts';

/**
 * Decimal arithmetic with settings of its own, so that nobody else's change to big.js reaches an invoice. Rounding
 * is half away from zero; 40 places keep a quotient of the longest quantities that are taken in from being rounded
 * onto a half that it is not. `strict` refuses JS numbers.
 */
const Decimal = Big();
Decimal.DP = 40;
Decimal.RM = Big.roundHalfUp;
Decimal.strict = true;

export type Decimal = Big.Big;

export const ZERO: Decimal = new Decimal('0');
export const HUNDRED: Decimal = new Decimal('100');

/** Sign, digits, and digits after a point; no exponent, no thousands separator, no blanks. */
const DECIMAL_TEXT = /^[+-]?\d{1,40}(?:\.\d{1,40})?$/;

export function isDecimal(text: string): boolean {
  return DECIMAL_TEXT.test(text);
}

/** @throws BillingError `invalid` */
export function parseDecimal(text: string): Decimal {
  if (!isDecimal(text)) {
    throw new BillingError('invalid', `${JSON.stringify(text.slice(0, 50))} is no decimal such as "12.50"`);
  }
  // big.js takes a minus, but no plus.
  return new Decimal(text.startsWith('+') ? text.slice(1) : text);
}

/** Ten to the power of a currency's exponent. */
export function powerOfTen(exponent: number): Decimal {
  return new Decimal(`1e${exponent}`);
}

/** What most texts are already: no sign but a minus, no zeros that say nothing. */
const CANONICAL_TEXT = /^(?:0|-?[1-9]\d{0,39})(?:\.\d{0,39}[1-9])?$/;

/**
 * The one way to write a value: `"1.0"`, `"+1"` and `"1"` are all `1`; zero has no sign.
 * @throws BillingError `invalid`
 */
export function canonicalDecimal(text: string): string {
  if (CANONICAL_TEXT.test(text)) return text;
  const value = parseDecimal(text);
  return value.eq(ZERO) ? '0' : value.toFixed();
}
