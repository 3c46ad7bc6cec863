/** Errors that are not ours, in our words: Fastify's, and those of an absent Postgres. */
import { BillingError, isBillingError } from '../errors.ts';

/** Problems that only HTTP has. */
export type HttpOnlyCode = 'too_large' | 'uri_too_long' | 'unsupported_media_type' | 'internal';

/** Postgres is away or overwhelmed: Prisma's codes, the network's, and Postgres' own (classes 08, 53 and 57). */
const UNAVAILABLE = new Set([
  ...['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2037'],
  ...['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'],
  ...['08000', '08001', '08003', '08006', '53300', '57P01', '57P02', '57P03'],
]);
const CAUSES_MAX = 5;

export function asBillingError(error: unknown): BillingError | null {
  if (isBillingError(error)) return error;
  if (isUnavailable(error))
    return new BillingError('unavailable', 'a service cannot be reached', { cause: error });
  return badRequestOf(error);
}

export function httpOnlyCodeOf(error: unknown): { code: HttpOnlyCode; detail: string } {
  switch (statusOf(error)) {
    case 413:
      return { code: 'too_large', detail: 'Send less at once: the limit of this address is in /docs' };
    case 414:
      return { code: 'uri_too_long', detail: 'Shorten the address' };
    case 415:
      return { code: 'unsupported_media_type', detail: 'Send JSON, with content-type: application/json' };
    default:
      return { code: 'internal', detail: 'This was logged; try again, and tell the operator if it stays' };
  }
}

function isUnavailable(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < CAUSES_MAX && typeof current === 'object' && current !== null; depth += 1) {
    if ([codeIn(current, 'code'), codeIn(current, 'errorCode')].some((code) => UNAVAILABLE.has(code)))
      return true;
    current = 'cause' in current ? current.cause : null;
  }
  return false;
}

function codeIn(thing: object, name: string): string {
  const code: unknown = Reflect.get(thing, name);
  return typeof code === 'string' ? code : '';
}

/** Fastify's own refusals of what it cannot read. */
function badRequestOf(error: unknown): BillingError | null {
  const status = statusOf(error);
  if (status === 404) return new BillingError('not_found', 'There is nothing at this address');
  if (status === 403) return new BillingError('forbidden', 'This is not allowed');
  if (status === 429) return new BillingError('rate_limited', 'Too many requests: wait a little');
  if (status === undefined || status < 400 || status >= 500 || [413, 414, 415].includes(status)) return null;
  const code = typeof error === 'object' && error !== null ? codeIn(error, 'code') : '';
  if (code === 'FST_ERR_BAD_URL')
    return new BillingError('invalid', 'The address cannot be decoded: check its % signs');
  const message =
    'the body is not JSON that is taken here: check quotes, commas and braces, and forbidden names';
  return new BillingError('invalid', message, { faults: [{ field: '', code: 'invalid_json', message }] });
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined;
  return typeof error.statusCode === 'number' ? error.statusCode : undefined;
}
