/** Documents whose totals were stated by their publishers: none of the figures below comes from our own code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { currencyOf } from '../../src/billing/currency.ts';
import { type ComputedInvoice, computeDraft, type DraftFigures } from '../../src/billing/draft.ts';
import { formatMoney, parseMoney } from '../../src/billing/money.ts';

const TAX_CASES = readLines<TaxCase>('tax-cases.jsonl');
const CHINOOK = readLines<DraftFigures & { externalId: string; controlTotal: string }>(
  'chinook-drafts.jsonl',
);

describe('published documents', () => {
  test('there are 314 of them', () => {
    expect(TAX_CASES).toHaveLength(314);
  });

  test.each(TAX_CASES)('$id is computed as its publisher states', (taxCase) => {
    const { exponent } = currencyOf(taxCase.currency);
    const minor = (text: string) => parseMoney(text, exponent);
    const { expected } = taxCase;
    expect(figuresOf(computeDraft(taxCase))).toEqual({
      lineNets: expected.lineNets.map(minor),
      subtotal: minor(expected.subtotal),
      discountTotal: minor(expected.discountTotal),
      chargeTotal: minor(expected.chargeTotal),
      taxExclusive: minor(expected.taxExclusive),
      taxTotal: minor(expected.taxTotal),
      total: minor(expected.total),
      taxBreakdown: expected.taxBreakdown
        .map((group) => ({
          category: group.category,
          rate: parseMoney(group.ratePercent, 4),
          taxable: minor(group.taxable),
          tax: minor(group.tax),
        }))
        .sort(byGroup),
    });
  });
});

describe('the Chinook invoices', () => {
  test('there are 412 of them', () => {
    expect(CHINOOK).toHaveLength(412);
  });

  test('each comes to the total that the author of the data recorded, 2328.60 in all', () => {
    const totals = CHINOOK.map((draft) => computeDraft(draft).totalMinor);
    expect(totals).toEqual(CHINOOK.map((draft) => parseMoney(draft.controlTotal, 2)));
    expect(
      formatMoney(
        totals.reduce((all, each) => all + each, 0n),
        2,
      ),
    ).toBe('2328.60');
  });
});

interface TaxCase extends DraftFigures {
  id: string;
  expected: {
    lineNets: string[];
    subtotal: string;
    discountTotal: string;
    chargeTotal: string;
    taxExclusive: string;
    taxTotal: string;
    total: string;
    taxBreakdown: { category: string; ratePercent: string; taxable: string; tax: string }[];
  };
}

function figuresOf(computed: ComputedInvoice) {
  return {
    lineNets: computed.lines.map((line) => line.netMinor),
    subtotal: computed.subtotalMinor,
    discountTotal: computed.discountMinor,
    chargeTotal: computed.chargeMinor,
    taxExclusive: computed.taxExclusiveMinor,
    taxTotal: computed.taxMinor,
    total: computed.totalMinor,
    taxBreakdown: computed.taxBreakdown
      .map((group) => ({
        category: group.category,
        rate: parseMoney(group.ratePercent, 4),
        taxable: group.taxableMinor,
        tax: group.taxMinor,
      }))
      .sort(byGroup),
  };
}

function byGroup(a: { category: string; rate: bigint }, b: { category: string; rate: bigint }): number {
  return `${a.category} ${a.rate}` < `${b.category} ${b.rate}` ? -1 : 1;
}

function readLines<T>(file: string): T[] {
  const text = readFileSync(join(import.meta.dirname, '../data', file), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}
