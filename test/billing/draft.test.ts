import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { computeDraft, type DraftFigures } from '../../src/billing/draft.ts';
import { sum } from '../../src/billing/share.ts';

const line = (unitPrice: string, taxRatePercent: string | null = null, quantity = '1') => ({
  quantity,
  unitPrice,
  taxRatePercent,
});

describe('tax', () => {
  const fiftyLines = Array.from({ length: 50 }, () => line('241.67', '20'));

  test('is rounded once per rate unless asked otherwise', () => {
    expect(computeDraft({ currency: 'EUR', lines: fiftyLines }).taxMinor).toBe(241_670n);
  });

  test('is rounded line by line where that is asked for', () => {
    const computed = computeDraft({ currency: 'EUR', rounding: 'per-line', lines: fiftyLines });
    expect(computed.taxMinor).toBe(241_650n);
    expect(computed.lines[0]?.taxMinor).toBe(4833n);
  });

  test('of 8180 at 9.975 % is 815.96', () => {
    expect(computeDraft({ currency: 'CAD', lines: [line('8180', '9.975')] }).taxMinor).toBe(81_596n);
  });

  test('of a currency without decimals is in whole units', () => {
    const computed = computeDraft({ currency: 'JPY', lines: [line('500', '10'), line('5', '10')] });
    expect(computed).toMatchObject({ taxExclusiveMinor: 505n, taxMinor: 51n, totalMinor: 556n });
  });

  test('rates that are written differently are one group', () => {
    const computed = computeDraft({ currency: 'EUR', lines: [line('1', '19'), line('1', '19.00')] });
    expect(computed.taxBreakdown).toEqual([
      { category: 'S', ratePercent: '19', taxableMinor: 200n, taxMinor: 38n },
    ]);
  });

  test('without a category is standard where there is a rate, and none where there is not', () => {
    const computed = computeDraft({
      currency: 'EUR',
      lines: [line('1', '7'), line('1', '0'), line('1'), { ...line('1'), taxCategory: 'LVG' }],
    });
    expect(computed.lines.map((each) => each.taxCategory)).toEqual(['S', 'O', 'O', 'LVG']);
  });

  test('that prices include is taken out of them, and the total stays what the customer reads', () => {
    const computed = computeDraft({
      currency: 'EUR',
      pricesIncludeTax: true,
      lines: [line('119.00', '19'), line('10.00', '7')],
      discounts: [{ amount: '11.90', taxCategory: 'S', taxRatePercent: '19' }],
    });
    expect(computed).toMatchObject({
      subtotalMinor: 10_935n,
      discountMinor: 1000n,
      taxExclusiveMinor: 9935n,
      taxMinor: 1775n,
      totalMinor: 11_710n,
    });
  });
});

describe('a line', () => {
  test.each([
    ['4.35 a hundred times', { quantity: '100', unitPrice: '4.35' }, 43_500n],
    ['1.005', { quantity: '1', unitPrice: '1.005' }, 101n],
    ['a price for a thousand', { quantity: '250', unitPrice: '12.99', priceBaseQuantity: '1000' }, 325n],
    ['a third', { quantity: '1', unitPrice: '1', priceBaseQuantity: '3' }, 33n],
    ['two thirds', { quantity: '2', unitPrice: '1', priceBaseQuantity: '3' }, 67n],
    ['what is given back', { quantity: '-1', unitPrice: '0.005' }, -1n],
    [
      'a percent off, rounded by itself',
      { quantity: '3', unitPrice: '0.335', discounts: [{ percent: '10' }] },
      91n,
    ],
    ['a charge', { quantity: '1', unitPrice: '10', charges: [{ amount: '2.50' }, { percent: '1' }] }, 1260n],
  ])('%s is computed exactly', (_, figures, netMinor) => {
    expect(computeDraft({ currency: 'EUR', lines: [figures] }).lines[0]?.netMinor).toBe(netMinor);
  });

  test('with a text that is no decimal is refused', () => {
    expect(() => computeDraft({ currency: 'EUR', lines: [line('1,50')] })).toThrow('is no decimal');
    expect(() =>
      computeDraft({ currency: 'EUR', lines: [{ ...line('1'), priceBaseQuantity: '0' }] }),
    ).toThrow('priceBaseQuantity');
  });
});

describe('a discount on the invoice', () => {
  const lines = [line('100', '19'), line('50', '7'), line('50', '7')];

  test('is spread over the tax groups by largest remainder', () => {
    const computed = computeDraft({
      currency: 'EUR',
      lines,
      discounts: [{ amount: '0.01' }, { amount: '9.99' }],
    });
    expect(computed.discountMinor).toBe(1000n);
    // One cent cannot be halved: of two equal groups the lower rate comes first, both times.
    expect(computed.taxBreakdown.map((group) => group.taxableMinor)).toEqual([9499n, 9501n]);
  });

  test('by percent is taken of the nets of the lines, rounded once', () => {
    const computed = computeDraft({
      currency: 'EUR',
      lines,
      discounts: [{ percent: '10' }],
      charges: [{ percent: '1' }],
    });
    expect(computed).toMatchObject({ discountMinor: 2000n, chargeMinor: 200n, taxExclusiveMinor: 18_200n });
  });

  test('for one group touches that group alone', () => {
    const discounts = [{ percent: '10', taxCategory: 'S', taxRatePercent: '19.0' }];
    const computed = computeDraft({ currency: 'EUR', lines, discounts });
    expect(computed.taxBreakdown.map((group) => group.taxableMinor)).toEqual([10_000n, 9000n]);
  });

  test('for a category is spread over the rates of that category', () => {
    const withExempt = [...lines, { ...line('1000'), taxCategory: 'E' }];
    const discounts = [{ amount: '10', taxCategory: 'S' }];
    const computed = computeDraft({ currency: 'EUR', lines: withExempt, discounts });
    expect(computed.taxBreakdown.map((group) => group.taxableMinor)).toEqual([100_000n, 9500n, 9500n]);
  });

  test('does not blow up where lines nearly cancel out', () => {
    const cancelling = [line('100', '19'), line('99.99', '7', '-1')];
    const computed = computeDraft({ currency: 'EUR', lines: cancelling, discounts: [{ amount: '10' }] });
    expect(computed.taxBreakdown.map((group) => group.taxableMinor)).toEqual([-9999n, 9000n]);
  });

  test('needs an amount or a percent, and not both', () => {
    expect(() => computeDraft({ currency: 'EUR', lines, discounts: [{}] })).toThrow('either');
    const both = [{ amount: '1', percent: '1' }];
    expect(() => computeDraft({ currency: 'EUR', lines, discounts: both })).toThrow('either');
  });
});

describe('any draft', () => {
  test('has parts that add up to their wholes', () => {
    fc.assert(
      fc.property(drafts(), (draft) => {
        const computed = computeDraft(draft);
        expect(sum(computed.lines.map((each) => each.netMinor))).toBe(computed.subtotalMinor);
        expect(computed.subtotalMinor - computed.discountMinor + computed.chargeMinor).toBe(
          computed.taxExclusiveMinor,
        );
        expect(sum(computed.taxBreakdown.map((group) => group.taxableMinor))).toBe(
          computed.taxExclusiveMinor,
        );
        expect(sum(computed.taxBreakdown.map((group) => group.taxMinor))).toBe(computed.taxMinor);
        expect(computed.taxExclusiveMinor + computed.taxMinor).toBe(computed.totalMinor);
      }),
    );
  });

  test('without discounts or charges of the invoice has lines whose taxes add up to the tax', () => {
    fc.assert(
      fc.property(drafts(), (draft) => {
        const computed = computeDraft({ ...draft, discounts: [], charges: [] });
        expect(sum(computed.lines.map((each) => each.taxMinor))).toBe(computed.taxMinor);
      }),
    );
  });

  test('comes to the same totals in whatever order its lines stand', () => {
    fc.assert(
      fc.property(
        drafts().chain((draft) =>
          fc.tuple(
            fc.constant(draft),
            fc.shuffledSubarray([...draft.lines], { minLength: draft.lines.length }),
          ),
        ),
        ([draft, shuffled]) => {
          const { lines: _, ...totals } = computeDraft(draft);
          const { lines: __, ...totalsOfShuffled } = computeDraft({ ...draft, lines: shuffled });
          expect(totalsOfShuffled).toEqual(totals);
        },
      ),
    );
  });

  test('is computed without a single JS number', () => {
    fc.assert(
      fc.property(drafts(), (draft) => {
        expect(numbersIn(computeDraft(draft))).toEqual([]);
      }),
    );
  });

  test('and its mirror, with each quantity and amount turned round, come to opposite totals', () => {
    fc.assert(
      fc.property(drafts(), (draft) => {
        const { totalMinor, taxMinor } = computeDraft({ ...draft, discounts: [], charges: [] });
        const lines = draft.lines.map((each) => ({
          ...each,
          quantity: negated(each.quantity),
          discounts: each.discounts?.map(({ amount }) => ({ amount: negated(amount ?? '0') })),
        }));
        const mirror = computeDraft({ ...draft, lines, discounts: [], charges: [] });
        expect([mirror.totalMinor, mirror.taxMinor]).toEqual([-totalMinor, -taxMinor]);
      }),
    );
  });

  test('of 10 000 lines takes well under a second', () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => ({
      ...line('1.2345', index % 2 === 0 ? '19' : '7.7', '3.333'),
      priceBaseQuantity: '7',
      discounts: [{ percent: '3' }],
    }));
    const startedMs = performance.now();
    computeDraft({ currency: 'EUR', lines, discounts: [{ percent: '10' }] });
    expect(performance.now() - startedMs).toBeLessThan(1000);
  });
});

function drafts() {
  const decimal = (max: number, decimals: number) =>
    fc
      .tuple(fc.integer({ min: 0, max }), fc.integer({ min: 0, max: 10 ** decimals - 1 }))
      .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(decimals, '0')}`);
  const rates = fc.constantFrom('0', '5.5', '7', '9.975', '19', '20.00');
  const taxes = { taxRatePercent: fc.option(rates), taxCategory: fc.option(fc.constantFrom('S', 'E', 'AE')) };
  const adjustment = fc.oneof(
    fc.record({ amount: decimal(50, 2), ...taxes }),
    fc.record({ percent: decimal(60, 2), ...taxes }),
  );
  const lines = fc.record({
    quantity: fc.tuple(fc.constantFrom('', '', '-'), decimal(100, 3)).map(([sign, text]) => sign + text),
    unitPrice: decimal(1000, 4),
    priceBaseQuantity: fc.constantFrom(null, '1', '3', '1000'),
    ...taxes,
    discounts: fc.array(fc.record({ amount: decimal(5, 2) }), { maxLength: 2 }),
  });
  return fc.record({
    currency: fc.constantFrom('EUR', 'JPY', 'KWD', 'CLF', 'HRK'),
    rounding: fc.constantFrom('per-rate' as const, 'per-line' as const),
    pricesIncludeTax: fc.boolean(),
    lines: fc.array(lines, { minLength: 1, maxLength: 12 }),
    discounts: fc.array(adjustment, { maxLength: 3 }),
    charges: fc.array(adjustment, { maxLength: 3 }),
  }) satisfies fc.Arbitrary<DraftFigures>;
}

function negated(text: string): string {
  return text.startsWith('-') ? text.slice(1) : `-${text}`;
}

function numbersIn(value: unknown): unknown[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}
