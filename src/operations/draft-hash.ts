import { createHash } from 'node:crypto';
import { canonicalDecimal } from '../billing/decimal.ts';
import { taxGroupOf } from '../billing/tax.ts';
import type { DraftInput } from './draft-input.ts';
import { DECIMAL_EXAMPLES } from './input-fields.ts';

/**
 * SHA-256 (hex) over everything that defines the invoice, in one form: the order of keys, absent or default, "1.0"
 * or "1" make no difference. The customer counts by its external id alone: its data belong to the customer, and may
 * have changed since. `controlTotal` only checks.
 */
export function draftContentHash(draft: DraftInput): string {
  const { controlTotal: _, customer, metadata, lines, ...header } = draft;
  const content = {
    ...header,
    customer: customer.externalId,
    lines: lines.map(({ taxCategory, taxRatePercent, ...line }) => ({
      ...line,
      tax: taxGroupOf({ ...(taxCategory && { taxCategory }), ...(taxRatePercent && { taxRatePercent }) }),
    })),
  };
  const text = JSON.stringify([canonical(content, isDecimalField), canonical(metadata ?? {}, () => false)]);
  return createHash('sha256').update(text).digest('hex');
}

function canonical(value: unknown, isDecimal: (key: string) => boolean, key = ''): unknown {
  if (typeof value === 'string') return isDecimal(key) ? canonicalDecimal(value) : value;
  if (Array.isArray(value)) return value.map((element) => canonical(element, isDecimal));
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [name, canonical(member, isDecimal, name)]);
}

function isDecimalField(key: string): boolean {
  return DECIMAL_EXAMPLES.has(key);
}
