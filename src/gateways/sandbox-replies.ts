/** What the sandbox gateway's replies mean. Anything that is not understood is an unknown outcome, never an error. */
import { z } from 'zod';
import type { CaptureOutcome, GatewayCapture } from '../operations/ports.ts';
import type { Exchange } from './http-exchange.ts';
import { sandboxDeclineClass } from './sandbox-decline-codes.ts';

type Reply = Extract<Exchange, { kind: 'reply' }>;
type Failure = Extract<Exchange, { kind: 'failed' }>;

const captureSchema = z.object({
  id: z.string().min(1).max(255),
  status: z.string().min(1),
  amountMinor: z
    .string()
    .regex(/^[0-9]{1,18}$/)
    .transform(BigInt),
  currency: z.string(),
  account: z.string(),
  actionUrl: z.url().nullish(),
  declineCode: z.string().nullish(),
  idempotencyKey: z.string(),
  createdAt: z.iso.datetime().transform((text) => new Date(text)),
  // Somebody else's capture has none of ours, and is money all the same.
  metadata: z.object({
    paymentId: z.string().default(''),
    invoiceId: z.string().default(''),
    externalId: z.string().default(''),
    number: z.string().default(''),
  }),
});
type CaptureObject = z.infer<typeof captureSchema>;

const declineSchema = z.object({
  error: z.object({
    declineCode: z.string().nullish(),
    capture: z.object({ id: z.string().min(1).max(255) }),
  }),
});
const errorSchema = z.object({ error: z.object({ code: z.string().regex(/^[a-z0-9_]{1,60}$/) }) });
const pageSchema = z.object({ data: z.array(captureSchema), nextCursor: z.string().nullable() });

/** No reply came. Only what was never handed to a connection was certainly not executed. */
export function outcomeOfFailure({ handedOver, reason }: Failure): CaptureOutcome {
  if (handedOver) return { kind: 'unknown', reason };
  // A request that cannot be written down, such as a line break in a header, will not get better by itself.
  if (reason === 'UND_ERR_INVALID_ARG') return { kind: 'ours_to_fix', reason: 'malformed_request' };
  return { kind: 'not_executed', reason };
}

/**
 * | status | outcome |
 * |---|---|
 * | 2xx | by the object's status word; a word that is not known here: processing |
 * | 402 | declined, classed by our own table |
 * | 409 | key in use |
 * | 429 | not executed |
 * | other 4xx | ours to fix; except 408 and 425, by which proxies report trouble of their own |
 * | everything else | unknown |
 */
export function outcomeOfReply(reply: Reply, now: Date): CaptureOutcome {
  const { status } = reply;
  if (status >= 200 && status < 300) return outcomeOfObject(reply);
  if (status === 402) return outcomeOfDecline(reply);
  if (status === 409) return { kind: 'key_in_use' };
  if (status === 429) return { kind: 'not_executed', reason: reasonOf(reply), ...retryAfterOf(reply, now) };
  if (status >= 400 && status < 500 && status !== 408 && status !== 425) {
    return { kind: 'ours_to_fix', reason: reasonOf(reply) };
  }
  return { kind: 'unknown', reason: reasonOf(reply) };
}

/** Null if it is no page of captures. */
export function pageOfReply(reply: Reply): { captures: GatewayCapture[]; nextCursor: string | null } | null {
  const page = reply.status === 200 ? parse(pageSchema, reply.body) : null;
  return page && { captures: page.data.map(gatewayCapture), nextCursor: page.nextCursor };
}

function outcomeOfObject(reply: Reply): CaptureOutcome {
  const capture = parse(captureSchema, reply.body);
  if (!capture) return { kind: 'unknown', reason: 'unreadable_reply' };
  const { id: reference, status, account, amountMinor, currency, metadata } = capture;
  if (status === 'captured') {
    return {
      kind: 'captured',
      reference,
      echo: { account, paymentId: metadata.paymentId, amountMinor, currency },
    };
  }
  if (status === 'declined') return declined(reference, capture.declineCode);
  if (status === 'requires_action' && capture.actionUrl) {
    return { kind: 'requires_action', reference, actionUrl: capture.actionUrl };
  }
  return { kind: 'processing', reference, statusWord: status.slice(0, STATUS_WORD_LENGTH_MAX) };
}

const STATUS_WORD_LENGTH_MAX = 60;

function outcomeOfDecline(reply: Reply): CaptureOutcome {
  const refusal = parse(declineSchema, reply.body)?.error;
  if (!refusal) return { kind: 'unknown', reason: 'unreadable_reply' };
  return declined(refusal.capture.id, refusal.declineCode);
}

function declined(reference: string, code: string | null | undefined): CaptureOutcome {
  const declineCode = code || 'unspecified';
  return {
    kind: 'declined',
    reference,
    declineCode,
    declineClass: sandboxDeclineClass(declineCode),
  };
}

/** `http_400:parameter_mismatch`: the gateway's code where it has one, never its text. */
function reasonOf(reply: Reply): string {
  const code = parse(errorSchema, reply.body)?.error.code;
  return code ? `http_${reply.status}:${code}` : `http_${reply.status}`;
}

/** Seconds or a date, as HTTP allows both. */
function retryAfterOf(reply: Reply, now: Date): { retryAfterMs?: number } {
  const text = [reply.headers['retry-after']].flat()[0]?.trim() ?? '';
  if (/^[0-9]{1,9}$/.test(text)) return { retryAfterMs: Number(text) * 1_000 };
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? {} : { retryAfterMs: Math.max(0, atMs - now.getTime()) };
}

function gatewayCapture(capture: CaptureObject): GatewayCapture {
  const {
    id: reference,
    idempotencyKey: gatewayKey,
    amountMinor,
    currency,
    createdAt: capturedAt,
    metadata,
  } = capture;
  return { reference, gatewayKey, amountMinor, currency, capturedAt, metadata };
}

function parse<T>(schema: z.ZodType<T>, body: string): T | null {
  try {
    return schema.safeParse(JSON.parse(body)).data ?? null;
  } catch {
    // No JSON: the caller says what that means.
    return null;
  }
}
