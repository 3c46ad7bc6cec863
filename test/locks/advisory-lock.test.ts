import { describe, expect, test } from 'vitest';
import { BillingError } from '../../src/errors.ts';
import { advisoryLockId } from '../../src/locks/advisory-lock.ts';

describe('advisoryLockId', () => {
  /** Made with `printf %s KEY | sha256sum | head -c 16`. */
  test.each([
    ['abc', 'ba7816bf8f01cfea'],
    ['charge_payment:1:a', 'fbb128c8361fea30'],
    ['invoice:00000000-0000-0000-0000-000000000000', '140a39c6a3548406'],
    ['Zürich ☂', 'eff017ad4a16b172'],
  ])('folds the first 64 bits of the SHA-256 of "%s" to a signed number', (key, first64Bits) => {
    expect(advisoryLockId(key)).toBe(BigInt.asIntN(64, BigInt(`0x${first64Bits}`)));
  });

  test('gives the published numbers', () => {
    expect(advisoryLockId('abc')).toBe(-5_010_229_573_455_851_542n);
    expect(advisoryLockId('charge_payment:1:a')).toBe(-310_422_058_945_222_096n);
  });

  test('always fits a bigint column', () => {
    for (let n = 0; n < 2_000; n += 1) {
      const id = advisoryLockId(`invoice:${n}`);
      expect(BigInt.asIntN(64, id)).toBe(id);
    }
  });

  test('gives two keys two numbers', () => {
    const ids = new Set(Array.from({ length: 10_000 }, (_, n) => advisoryLockId(`payment:${n}`)));
    expect(ids.size).toBe(10_000);
  });

  test('refuses an empty key', () => {
    expect(() => advisoryLockId('')).toThrow(BillingError);
  });
});
