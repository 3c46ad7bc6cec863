/** Money is a decimal string outside and `bigint` minor units inside; in between it is a `Decimal`, never a number. */
import { BillingError } from '../errors.ts';
import { type Decimal, parseDecimal, powerOfTen } from './decimal.ts';

/** What an amount may be at most, either way: the range of the columns that keep it. */
export const MINOR_MAX = 9_223_372_036_854_775_807n;

/**
 * `"12.5"` with exponent 2 → `1250n`, exactly; zeros after the last minor unit are no decimals too many.
 * @throws BillingError `invalid` for what is no decimal, or is finer than the minor unit
 */
export function parseMoney(text: string, exponent: number): bigint {
  const minor = parseDecimal(text).times(powerOfTen(exponent));
  if (!minor.eq(minor.round(0))) {
    throw new BillingError('invalid', `${text} has more than the ${exponent} decimals of its currency`);
  }
  return BigInt(minor.toFixed(0));
}

/** `1250n` with exponent 2 → `"12.50"`: always with all decimals of the currency. */
export function formatMoney(minor: bigint, exponent: number): string {
  const digits = (minor < 0n ? -minor : minor).toString().padStart(exponent + 1, '0');
  const point = digits.length - exponent;
  const sign = minor < 0n ? '-' : '';
  return exponent === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Rounds an amount in major units to minor units, half away from zero. */
export function roundToMinor(amount: Decimal, exponent: number): bigint {
  return BigInt(amount.times(powerOfTen(exponent)).round(0).toFixed(0));
}

/** `numerator ÷ denominator` (above zero) in whole units, half away from zero: the same rule for fractions. */
export function divideRounded(numerator: bigint, denominator: bigint): bigint {
  const half = numerator < 0n ? -denominator : denominator;
  return (2n * numerator + half) / (2n * denominator);
}
