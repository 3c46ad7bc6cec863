/**
 * The kinds of fields that inputs are made of. What cannot be said in JSON Schema (the OpenAPI document is made from
 * these) stands in the rules beside each input.
 */
import { z } from 'zod';

const DECIMAL_LIMITS = /^[+-]?\d{1,18}(?:\.\d{1,12})?$/;

/** Fields that are decimal strings, each with a value that a message can show. */
export const DECIMAL_EXAMPLES: ReadonlyMap<string, string> = new Map([
  ['quantity', '2'],
  ['unitPrice', '12.50'],
  ['priceBaseQuantity', '100'],
  ['taxRatePercent', '19'],
  ['amount', '5.00'],
  ['percent', '10'],
  ['controlTotal', '119.00'],
]);

/** 18 digits before the point and 12 after it at most. */
export function decimalString(description: string) {
  return z.string().regex(DECIMAL_LIMITS, 'must be a decimal string').describe(description);
}

/** A name that programs use: one line. */
export function identifier(lengthMax: number, description: string) {
  return z
    .string()
    .min(1)
    .max(lengthMax)
    .regex(/^\P{Cc}*$/u, 'must not contain line breaks or other control characters')
    .describe(description);
}

/** A text for people that must say something. */
export function requiredText(lengthMax: number) {
  return z.string().max(lengthMax).regex(/\S/, 'must not be empty');
}

export function optionalText(lengthMax: number) {
  return z.string().max(lengthMax).nullish();
}
