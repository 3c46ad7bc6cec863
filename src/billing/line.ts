import { BillingError } from '../errors.ts';
import { type AdjustmentFigures, adjustmentAmount } from './adjustment.ts';
import { parseDecimal, ZERO } from './decimal.ts';
import { roundToMinor } from './money.ts';
import type { TaxFigures } from './tax.ts';

/** Decimal strings. A negative quantity gives back. */
export interface LineFigures extends TaxFigures {
  quantity: string;
  unitPrice: string;
  /** The price is for this many; 1 if missing. */
  priceBaseQuantity?: string | null;
  discounts?: readonly AdjustmentFigures[] | null;
  charges?: readonly AdjustmentFigures[] | null;
}

/**
 * quantity × price ÷ base − discounts + charges, rounded once at the end (EN 16931); net, or with tax where prices
 * include it.
 * @throws BillingError `invalid`
 */
export function lineAmountMinor(line: LineFigures, exponent: number): bigint {
  const base = line.priceBaseQuantity == null ? null : parseDecimal(line.priceBaseQuantity);
  if (base?.eq(ZERO)) throw new BillingError('invalid', 'priceBaseQuantity must be above 0');
  const priced = parseDecimal(line.quantity).times(parseDecimal(line.unitPrice));
  const gross = base ? priced.div(base) : priced;
  const sumOf = (adjustments: LineFigures['discounts']) =>
    (adjustments ?? []).reduce((total, each) => total.plus(adjustmentAmount(each, gross, exponent)), ZERO);
  return roundToMinor(gross.minus(sumOf(line.discounts)).plus(sumOf(line.charges)), exponent);
}
