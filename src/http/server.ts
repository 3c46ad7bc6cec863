/**
 * The HTTP side of the application: the API below `/v1`, its documentation, health, and the operator's pages. What
 * it needs is handed in; it opens nothing itself.
 */
import rateLimit from '@fastify/rate-limit';
import type { Queue } from 'bullmq';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import type { ApiKey } from './api-key.ts';
import { AUTH_LIMITS, type AuthLimits, requireKey } from './bearer-auth.ts';
import { type CustomerNeeds, registerCustomers } from './customers.ts';
import { type InvoiceNeeds, registerInvoices } from './invoices.ts';
import { acceptJsonOnly } from './json-body.ts';
import { registerOpenApi } from './openapi.ts';
import { registerAdmin } from './operator/admin.ts';
import { type Health, registerHealth } from './operator/health.ts';
import { registerIndex } from './operator/index-page.ts';
import { LOGIN_LIMITS, type LoginLimits } from './operator/login.ts';
import type { BoardAccount } from './operator/session.ts';
import { registerProblems, sendError } from './problem.ts';
import { logRequests } from './request-log.ts';
import { useZodSchemas } from './schemas.ts';
import { registerSecurityHeaders } from './security-headers.ts';

export interface HttpNeeds extends InvoiceNeeds, CustomerNeeds {
  apiKeys: readonly ApiKey[];
  board: BoardAccount;
  production: boolean;
  /** Shown on the board. */
  queues: readonly Queue[];
  health: Health;
  log: Logger;
  /** Proxies whose `X-Forwarded-…` headers are believed, as Fastify takes it; none by default. */
  trustProxy?: boolean | string | string[];
  limits?: Partial<AuthLimits & LoginLimits>;
}

/** For everything but drafts, which bring a limit of their own. */
const BODY_BYTES_MAX = 64 * 1024;
const REQUEST_TIMEOUT_MS = 60_000;
const PARAM_LENGTH_MAX = 1024;

/** Does not listen yet. @throws BillingError `configuration` at `ready()` or `listen()` if the board's hash is none */
export function buildHttpServer(needs: HttpNeeds): FastifyInstance {
  const fastify = Fastify({
    loggerInstance: needs.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: needs.trustProxy ?? false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => void sendError(error, request, reply),
  });
  useZodSchemas(fastify);
  fastify.decorateRequest('caller', null);
  registerProblems(fastify);
  acceptJsonOnly(fastify);
  logRequests(fastify);
  registerSecurityHeaders(fastify, needs);
  fastify.register(rateLimit, { global: false });
  registerOpenApi(fastify);
  // Plugins load in order, so the routes come as one too: what they build on is there by then.
  fastify.register(async (routes) => {
    registerIndex(routes);
    registerHealth(routes, needs.health);
    registerAdmin(routes, { ...needs, account: needs.board, limits: { ...LOGIN_LIMITS, ...needs.limits } });
    routes.register(
      async (api) => {
        requireKey(api, needs.apiKeys, { ...AUTH_LIMITS, ...needs.limits });
        registerInvoices(api, needs);
        registerCustomers(api, needs);
      },
      { prefix: '/v1' },
    );
  });
  return fastify;
}
