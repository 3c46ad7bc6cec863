/**
 * Rules of one attempt to be paid: its identity, when a reply is believed, and when a decline is tried again.
 */
import { createHash } from 'node:crypto';

export type PaymentStatus =
  | 'created'
  | 'sent'
  | 'captured'
  | 'declined'
  | 'requires_action'
  | 'processing'
  | 'unknown'
  | 'cancelled';

/** The attempt that is in flight; at most one per invoice. */
export interface OpenPayment {
  id: string;
  status: Extract<PaymentStatus, 'created' | 'sent' | 'requires_action' | 'processing' | 'unknown'>;
  /** The time to ask about an unknown outcome has come. */
  checkDue: boolean;
  /** The gateway still remembers the key, with a margin: sending it again cannot capture twice. */
  keyAlive: boolean;
}

/** Request ids of automatic attempts; a person's request brings its own. */
export function automaticRequestId(attemptSeq: number): string {
  return `auto-${attemptSeq}`;
}

/**
 * The id of the attempt that answers one request: a UUIDv8 from SHA-256 of (invoice, request). The same request
 * has the same id for ever, also after a restored database has forgotten it, so that the gateway recognises it.
 */
export function paymentId(invoiceId: string, requestId: string): string {
  const bytes = createHash('sha256').update(`${invoiceId}:${requestId}`).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Written with the payment's row, once; every sender reads it from there. */
export function gatewayKeyFor(id: string): string {
  return `billonce-${id}`;
}

/** What a reply must match before it is believed. */
export interface ExpectedEcho {
  account: string;
  paymentId: string;
  amountMinor: bigint;
  currency: string;
}

/** The names of the fields in which a reply differs from the row; empty if it can be believed. */
export function echoDifferences(expected: ExpectedEcho, echo: ExpectedEcho): (keyof ExpectedEcho)[] {
  const fields = ['account', 'paymentId', 'amountMinor', 'currency'] as const;
  return fields.filter((field) => expected[field] !== echo[field]);
}

const DAY_MS = 24 * 60 * 60 * 1000;
const RETRY_AFTER_DECLINE_MS = [3 * DAY_MS, 5 * DAY_MS, 7 * DAY_MS];

/**
 * When the next automatic attempt may follow a decline, counted from now; null for never by itself: the card's
 * owner must act, the card is stopped, or the schedule (3, 5 and 7 days) is used up.
 */
export function retryDelayAfterDecline(
  declineClass: 'retry_later' | 'customer_must_act' | 'stop',
  declinesBefore: number,
): number | null {
  if (declineClass !== 'retry_later') return null;
  return RETRY_AFTER_DECLINE_MS[declinesBefore] ?? null;
}
