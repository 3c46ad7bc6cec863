/** A draft's figures in, everything computed out. The arithmetic is that of EN 16931 (BR-CO-10 to BR-CO-17). */
import type { AdjustmentFigures } from './adjustment.ts';
import { currencyOf } from './currency.ts';
import { partsOfAdjustment } from './invoice-adjustment.ts';
import { type LineFigures, lineAmountMinor } from './line.ts';
import { sum } from './share.ts';
import { type Rounding, taxGroupOf } from './tax.ts';
import { groupParts, type TaxedPart, type TaxPart, taxParts } from './tax-part.ts';

/** What the arithmetic needs of a draft; decimal strings in major units. An invoice and a credit note compute the same. */
export interface DraftFigures {
  currency: string;
  /** `per-rate` if missing. */
  rounding?: Rounding | null;
  pricesIncludeTax?: boolean | null;
  lines: readonly LineFigures[];
  /** Of the whole invoice: given on one tax group, or spread over all. */
  discounts?: readonly AdjustmentFigures[] | null;
  charges?: readonly AdjustmentFigures[] | null;
}

/**
 * Minor units. The taxes of the lines are their own: what an invoice discount saves is in `taxMinor` and in the
 * breakdown, not in any line.
 *
 * subtotal = Σ line nets; taxExclusive = subtotal − discount + charge = Σ taxable; total = taxExclusive + tax.
 */
export interface ComputedInvoice {
  /** In the draft's order. */
  lines: { netMinor: bigint; taxMinor: bigint; taxCategory: string; taxRatePercent: string }[];
  subtotalMinor: bigint;
  /** Discounts and charges of the invoice, without tax; those of lines are in the lines' nets. */
  discountMinor: bigint;
  chargeMinor: bigint;
  taxExclusiveMinor: bigint;
  /** By category, then rate. */
  taxBreakdown: { category: string; ratePercent: string; taxableMinor: bigint; taxMinor: bigint }[];
  taxMinor: bigint;
  totalMinor: bigint;
}

/**
 * Does not judge: whatever the arithmetic gives, negative totals and withdrawn currencies included.
 * @throws BillingError `invalid` for an unknown currency or a text that is no decimal
 */
export function computeDraft(draft: DraftFigures): ComputedInvoice {
  const { exponent } = currencyOf(draft.currency);
  const lines = draft.lines.map((line): TaxPart => {
    return { kind: 'line', group: taxGroupOf(line), amountMinor: lineAmountMinor(line, exponent) };
  });
  const groupsOfLines = groupParts(lines);
  const adjust = (kind: 'discount' | 'charge', adjustments: DraftFigures['discounts']) =>
    (adjustments ?? []).flatMap((each) => partsOfAdjustment(kind, each, groupsOfLines, exponent));
  const parts = [...lines, ...adjust('discount', draft.discounts), ...adjust('charge', draft.charges)];
  const mode = { rounding: draft.rounding ?? 'per-rate', pricesIncludeTax: draft.pricesIncludeTax ?? false };

  const taxBreakdown: ComputedInvoice['taxBreakdown'] = [];
  const taxed = new Map<TaxPart, TaxedPart>();
  for (const group of groupParts(parts)) {
    const members = taxParts(group, mode);
    for (const member of members) taxed.set(member.part, member);
    const taxableMinor = sum(members.map((member) => member.netMinor));
    const taxMinor = sum(members.map((member) => member.taxMinor));
    taxBreakdown.push({ ...group.group, taxableMinor, taxMinor });
  }
  return { lines: linesOf(lines, taxed), ...totalsOf(taxed, taxBreakdown), taxBreakdown };
}

function linesOf(
  lines: readonly TaxPart[],
  taxed: ReadonlyMap<TaxPart, TaxedPart>,
): ComputedInvoice['lines'] {
  return lines.map((line) => ({
    netMinor: taxed.get(line)?.netMinor ?? 0n,
    taxMinor: taxed.get(line)?.taxMinor ?? 0n,
    taxCategory: line.group.category,
    taxRatePercent: line.group.ratePercent,
  }));
}

function totalsOf(
  taxed: ReadonlyMap<TaxPart, TaxedPart>,
  taxBreakdown: ComputedInvoice['taxBreakdown'],
): Omit<ComputedInvoice, 'lines' | 'taxBreakdown'> {
  const parts = [...taxed.values()];
  const netOf = (kind: TaxPart['kind']) =>
    sum(parts.filter(({ part }) => part.kind === kind).map(({ netMinor }) => netMinor));
  const taxExclusiveMinor = sum(taxBreakdown.map(({ taxableMinor }) => taxableMinor));
  const taxMinor = sum(taxBreakdown.map((group) => group.taxMinor));
  return {
    subtotalMinor: netOf('line'),
    discountMinor: -netOf('discount'),
    chargeMinor: netOf('charge'),
    taxExclusiveMinor,
    taxMinor,
    totalMinor: taxExclusiveMinor + taxMinor,
  };
}
