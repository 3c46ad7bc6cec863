import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allocate, roundTogether, sum } from '../../src/billing/share.ts';

const amount = fc.bigInt(-(10n ** 15n), 10n ** 15n);

describe('largest remainder', () => {
  test.each([
    [10n, [1n, 1n, 1n], [4n, 3n, 3n]],
    [-10n, [1n, 1n, 1n], [-4n, -3n, -3n]],
    [100n, [50n, 30n, 20n], [50n, 30n, 20n]],
    [7n, [10n, 0n, 90n], [1n, 0n, 6n]],
    [5n, [0n, 0n], [3n, 2n]],
    [10n, [10_000n, -9_999n], [10n, 0n]],
    [10n, [-30n, -10n], [8n, 2n]],
  ])('spreads %s over %s as %s', (whole, weights, parts) => {
    expect(allocate(whole, weights)).toEqual(parts);
  });

  test('gives shares that add up to the whole, and none beyond it', () => {
    fc.assert(
      fc.property(amount, fc.array(amount, { minLength: 1, maxLength: 30 }), (whole, weights) => {
        const parts = allocate(whole, weights);
        expect(sum(parts)).toBe(whole);
        for (const part of parts) expect(whole < 0n ? part >= whole && part <= 0n : part >= 0n).toBe(true);
      }),
    );
  });

  test('keeps each part within one unit of its exact share', () => {
    fc.assert(
      fc.property(
        fc.array(amount, { minLength: 1, maxLength: 30 }),
        fc.bigInt(1n, 10n ** 6n),
        (numerators, denominator) => {
          const parts = roundTogether(numerators, denominator);
          parts.forEach((part, index) => {
            const error = part * denominator - (numerators[index] ?? 0n);
            expect(error < denominator && error > -denominator).toBe(true);
          });
        },
      ),
    );
  });
});
