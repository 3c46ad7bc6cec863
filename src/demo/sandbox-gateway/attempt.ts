/**
 * What the gateway keeps of one executed call, and the request that it comes from. Amounts stay decimal strings of
 * minor units, as they travel; only sums turn them into `bigint`.
 */
import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Verdict } from './faults.ts';

/** Any positive amount goes: the sandbox has no minimum. */
export const captureRequestSchema = z.strictObject({
  amountMinor: z
    .string()
    .regex(/^[1-9][0-9]{0,17}$/, 'must be a positive whole number of minor units, as a string'),
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code in upper case'),
  customer: z.string().min(1).max(255).nullable(),
  paymentMethod: z.string().min(1).max(255),
  descriptor: z.string().regex(/^[\x20-\x7e]{5,22}$/, 'must be 5 to 22 characters of plain ASCII'),
  metadata: z.record(z.string().max(40), z.string().max(500)),
});

export type CaptureRequestBody = z.infer<typeof captureRequestSchema>;

/** Also the shape of a line in the journal, hence a schema. */
export const attemptSchema = z.object({
  id: z.string(),
  status: z.enum(['captured', 'declined']),
  declineCode: z.string().nullable(),
  amountMinor: z.string(),
  currency: z.string(),
  account: z.string(),
  customer: z.string().nullable(),
  paymentMethod: z.string(),
  descriptor: z.string(),
  metadata: z.record(z.string(), z.string()),
  idempotencyKey: z.string(),
  /** RFC 3339 in UTC, with milliseconds. */
  createdAt: z.string(),
});

/** An executed call, whatever came of it. Never changed once it is made. */
export type Attempt = Readonly<z.infer<typeof attemptSchema>>;

export function newAttempt(
  body: CaptureRequestBody,
  verdict: Verdict,
  made: { account: string; idempotencyKey: string; at: Date },
): Attempt {
  return {
    id: `cap_${randomBytes(12).toString('hex')}`,
    status: verdict.status,
    declineCode: verdict.status === 'declined' ? verdict.declineCode : null,
    amountMinor: body.amountMinor,
    currency: body.currency,
    account: made.account,
    customer: body.customer,
    paymentMethod: body.paymentMethod,
    descriptor: body.descriptor,
    metadata: body.metadata,
    idempotencyKey: made.idempotencyKey,
    createdAt: made.at.toISOString(),
  };
}

/** Equal for two bodies that ask for the same thing, however their fields are ordered. */
export function requestHash(body: CaptureRequestBody): string {
  const { amountMinor, currency, customer, paymentMethod, descriptor, metadata } = body;
  const pairs = Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1));
  const canonical = JSON.stringify([amountMinor, currency, customer, paymentMethod, descriptor, pairs]);
  return createHash('sha256').update(canonical).digest('base64url');
}
