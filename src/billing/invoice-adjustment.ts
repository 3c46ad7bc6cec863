import { type AdjustmentFigures, adjustmentAmount } from './adjustment.ts';
import { parseDecimal } from './decimal.ts';
import { formatMoney, roundToMinor } from './money.ts';
import { allocate, sum } from './share.ts';
import { taxGroupKey, taxGroupOf } from './tax.ts';
import { amountOf, type TaxPart, type TaxPartGroup } from './tax-part.ts';

/**
 * A discount or charge of the whole invoice, as its shares in the tax groups of the lines. A percent is of the
 * lines' amounts in the groups that it is given on.
 */
export function partsOfAdjustment(
  kind: 'discount' | 'charge',
  figures: AdjustmentFigures,
  groups: readonly TaxPartGroup[],
  exponent: number,
): TaxPart[] {
  const targets = targetsOf(figures, groups);
  const basesMinor = targets.map(amountOf);
  const base = parseDecimal(formatMoney(sum(basesMinor), exponent));
  const amountMinor = roundToMinor(adjustmentAmount(figures, base, exponent), exponent);
  const sharesMinor = allocate(amountMinor, basesMinor);
  return targets.map(({ group }, index) => {
    const shareMinor = sharesMinor[index] ?? 0n;
    return { kind, group, amountMinor: kind === 'discount' ? -shareMinor : shareMinor };
  });
}

/** The group that is named; those of the category, where only that is; all of them without either. */
function targetsOf(figures: AdjustmentFigures, groups: readonly TaxPartGroup[]): TaxPartGroup[] {
  const own = taxGroupOf(figures);
  const matches = groups.filter(({ group }) => {
    if (figures.taxRatePercent != null) return taxGroupKey(group) === taxGroupKey(own);
    return figures.taxCategory == null || group.category === figures.taxCategory;
  });
  return matches.length > 0 ? matches : [{ group: own, members: [] }];
}
