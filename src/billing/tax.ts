import { canonicalDecimal, type Decimal, parseDecimal } from './decimal.ts';
import { roundEach, roundTogether } from './share.ts';

/** When tax is rounded: once per rate (EN 16931), or line by line. */
export type Rounding = 'per-rate' | 'per-line';

export interface TaxMode {
  rounding: Rounding;
  pricesIncludeTax: boolean;
}

/** What an input says about tax; both parts may be missing. */
export interface TaxFigures {
  taxCategory?: string | null;
  taxRatePercent?: string | null;
}

/** A category (UNCL 5305, or the seller's own) at a rate; amounts of one group are taxed together. */
export interface TaxGroup {
  category: string;
  /** Canonical: `19`, never `19.00`. */
  ratePercent: string;
}

/** Without a rate it is 0; without a category, a rate above 0 is S (standard), else O (not subject to tax). */
export function taxGroupOf(figures: TaxFigures): TaxGroup {
  const ratePercent = canonicalDecimal(figures.taxRatePercent ?? '0');
  const isTaxed = ratePercent !== '0' && !ratePercent.startsWith('-');
  return { category: figures.taxCategory ?? (isTaxed ? 'S' : 'O'), ratePercent };
}

export function taxGroupKey(group: TaxGroup): string {
  return `${group.ratePercent} ${group.category}`;
}

/** By category, then rate: an order that does not depend on the order of lines. */
export function compareTaxGroups(a: TaxGroup, b: TaxGroup): number {
  if (a.category !== b.category) return a.category < b.category ? -1 : 1;
  return parseDecimal(a.ratePercent).cmp(parseDecimal(b.ratePercent));
}

/**
 * The tax of each amount of one group, in minor units. `per-rate`: the tax of their sum, rounded once and shared by
 * largest remainder; `per-line`: each rounded by itself. With `pricesIncludeTax` the tax is part of the amounts.
 */
export function taxesOf(amountsMinor: readonly bigint[], ratePercent: string, mode: TaxMode): bigint[] {
  const { rate, hundred } = wholeNumbers(parseDecimal(ratePercent));
  const denominator = mode.pricesIncludeTax ? hundred + rate : hundred;
  const numerators = amountsMinor.map((amount) => amount * rate);
  const round = mode.rounding === 'per-line' ? roundEach : roundTogether;
  return round(numerators, denominator);
}

/** 19.6 % → 196 of 1000: the rate and the hundred that it is of, both as whole numbers. */
function wholeNumbers(rate: Decimal): { rate: bigint; hundred: bigint } {
  const [whole = '0', fraction = ''] = rate.toFixed().split('.');
  return { rate: BigInt(whole + fraction), hundred: 100n * 10n ** BigInt(fraction.length) };
}
