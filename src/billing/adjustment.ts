import { BillingError } from '../errors.ts';
import { type Decimal, HUNDRED, parseDecimal } from './decimal.ts';
import type { TaxFigures } from './tax.ts';

/** A discount or a charge: an amount in major units, or a percent of what it is given on. */
export interface AdjustmentFigures extends TaxFigures {
  amount?: string | null;
  percent?: string | null;
}

/**
 * In major units. Only a percent is rounded, to the minor unit; an amount is what was agreed.
 * @throws BillingError `invalid` unless exactly one of amount and percent is given
 */
export function adjustmentAmount(figures: AdjustmentFigures, base: Decimal, exponent: number): Decimal {
  const { amount, percent } = figures;
  if ((amount == null) === (percent == null)) {
    throw new BillingError('invalid', 'a discount or charge has either an amount or a percent');
  }
  if (amount != null) return parseDecimal(amount);
  return base
    .times(parseDecimal(percent ?? '0'))
    .div(HUNDRED)
    .round(exponent);
}
