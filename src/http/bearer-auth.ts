/**
 * Who calls: `Authorization: Bearer <key>`. Only the SHA-256 of a key is known here, and every configured one is
 * compared in constant time, so that the answer's time tells nothing. Limits count per process.
 */
import '@fastify/rate-limit';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BillingError } from '../errors.ts';
import type { ApiKey, ApiScope } from './api-key.ts';

export interface AuthLimits {
  /** Far above what a sound client does; it stops one that runs wild. */
  requestsPerMinute: number;
  /** Per address. A valid key is never affected by another's failures. */
  failuresPerMinute: number;
}

export const AUTH_LIMITS: AuthLimits = { requestsPerMinute: 120_000, failuresPerMinute: 60 };

const MINUTE_MS = 60_000;
const KEY_PATTERN = /^Bearer +([\x21-\x7e]{1,512})$/i;

declare module 'fastify' {
  interface FastifyRequest {
    /** Null outside `/v1`. */
    caller: { name: string } | null;
  }
  interface FastifyContextConfig {
    /** What a key must be allowed to; a route that says nothing is for admins. */
    scope?: ApiScope;
  }
}

/** Guards every route that is registered on `fastify` from here on. Needs @fastify/rate-limit around it. */
export function requireKey(fastify: FastifyInstance, apiKeys: readonly ApiKey[], limits: AuthLimits): void {
  const keys = apiKeys.map((key) => ({ ...key, digest: Buffer.from(key.sha256, 'hex') }));
  const countRequest = fastify.createRateLimit({
    max: limits.requestsPerMinute,
    timeWindow: MINUTE_MS,
    keyGenerator: (request) => request.caller?.name ?? '',
  });
  const countFailure = fastify.createRateLimit({ max: limits.failuresPerMinute, timeWindow: MINUTE_MS });

  fastify.addHook('onRequest', async (request, reply) => {
    const key = findKey(request.headers.authorization);
    if (!key) {
      refuseIfExceeded(await countFailure(request), reply);
      throw unauthorized(request, reply);
    }
    request.caller = { name: key.name };
    refuseIfExceeded(await countRequest(request), reply);
    const scope = request.routeOptions.config.scope ?? 'admin';
    if (!key.scopes.includes(scope) && !key.scopes.includes('admin')) throw forbidden(scope, reply);
  });

  function findKey(header: string | undefined): ApiKey | null {
    const given = KEY_PATTERN.exec(header ?? '')?.[1];
    if (given === undefined) return null;
    const digest = createHash('sha256').update(given).digest();
    let found: ApiKey | null = null;
    for (const key of keys) if (timingSafeEqual(key.digest, digest)) found = key;
    return found;
  }
}

/** Who did it, for the trail. */
export function actorOf(request: FastifyRequest): string {
  return `key:${request.caller?.name ?? 'unknown'}`;
}

type Count = Awaited<ReturnType<ReturnType<FastifyInstance['createRateLimit']>>>;

function refuseIfExceeded(count: Count, reply: FastifyReply): void {
  if (count.isAllowed || !count.isExceeded) return;
  reply.header('retry-after', count.ttlInSeconds);
  throw new BillingError('rate_limited', `Too many requests: go on in ${count.ttlInSeconds} s`);
}

function unauthorized(request: FastifyRequest, reply: FastifyReply): BillingError {
  const given = request.headers.authorization !== undefined;
  reply.header('www-authenticate', `Bearer realm="billonce"${given ? ', error="invalid_token"' : ''}`);
  return new BillingError(
    'unauthorized',
    given ? 'This key is not known here' : 'Send a key: Authorization: Bearer <key>',
  );
}

function forbidden(scope: ApiScope, reply: FastifyReply): BillingError {
  reply.header('www-authenticate', `Bearer realm="billonce", error="insufficient_scope", scope="${scope}"`);
  return new BillingError('forbidden', `This key lacks the scope ${scope}`);
}
