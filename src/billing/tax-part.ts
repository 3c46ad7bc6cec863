import { sum } from './share.ts';
import { compareTaxGroups, type TaxGroup, type TaxMode, taxesOf, taxGroupKey } from './tax.ts';

/** A line, or the share of an invoice discount or charge that falls to one tax group. Discounts are below zero. */
export interface TaxPart {
  kind: 'line' | 'discount' | 'charge';
  group: TaxGroup;
  /** Without tax, or with it where prices include it. */
  amountMinor: bigint;
}

export interface TaxedPart {
  part: TaxPart;
  netMinor: bigint;
  taxMinor: bigint;
}

export interface TaxPartGroup {
  group: TaxGroup;
  members: TaxPart[];
}

/** By category, then rate. */
export function groupParts(parts: readonly TaxPart[]): TaxPartGroup[] {
  const groups = new Map<string, TaxPartGroup>();
  for (const part of parts) {
    const key = taxGroupKey(part.group);
    const known = groups.get(key);
    if (known) known.members.push(part);
    else groups.set(key, { group: part.group, members: [part] });
  }
  return [...groups.values()].sort((a, b) => compareTaxGroups(a.group, b.group));
}

export function taxParts({ group, members }: TaxPartGroup, mode: TaxMode): TaxedPart[] {
  const taxesMinor = taxesOf(
    members.map((part) => part.amountMinor),
    group.ratePercent,
    mode,
  );
  return members.map((part, index) => {
    const taxMinor = taxesMinor[index] ?? 0n;
    return {
      part,
      taxMinor,
      netMinor: mode.pricesIncludeTax ? part.amountMinor - taxMinor : part.amountMinor,
    };
  });
}

export function amountOf(group: TaxPartGroup): bigint {
  return sum(group.members.map((part) => part.amountMinor));
}
