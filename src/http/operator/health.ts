/** What a supervisor asks: is the process alive, and can it do its work. */
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import { z } from 'zod';
import { registerProblems } from '../problem.ts';
import { useZodSchemas } from '../schemas.ts';

export interface Health {
  /** What is wrong with the process itself, so that only a restart helps; undefined if nothing is. */
  live(): string | undefined;
  ready(): Promise<{ status: 'ok' | 'degraded' | 'unavailable'; checks: Record<string, string> }>;
}

const liveSchema = z.object({ status: z.enum(['ok', 'failing']), reason: z.string().optional() });
const readySchema = z.object({
  status: z.enum(['ok', 'degraded', 'unavailable']),
  checks: z.record(z.string(), z.string()).describe('ok, or what is wrong, by service'),
});
const OPEN_TO_ALL = { tags: ['Health'], security: [] };

/** `/healthz` and `/readyz`, without a key. */
export function registerHealth(fastify: FastifyInstance, health: Health): void {
  const routes = fastify.withTypeProvider<ZodTypeProvider>();

  routes.get(
    '/healthz',
    {
      schema: {
        ...OPEN_TO_ALL,
        summary: 'Is the process alive?',
        response: { 200: liveSchema.describe('It is'), 503: liveSchema.describe('It should be restarted') },
      },
    },
    async (_request, reply) => {
      const reason = health.live();
      reply.header('cache-control', 'no-store').code(reason === undefined ? 200 : 503);
      return reason === undefined ? { status: 'ok' as const } : { status: 'failing' as const, reason };
    },
  );

  routes.get(
    '/readyz',
    {
      schema: {
        ...OPEN_TO_ALL,
        summary: 'Can it do its work?',
        description:
          '`degraded`: the work goes on, but a service is missing that it can do without for a while.',
        response: { 200: readySchema.describe('ok or degraded'), 503: readySchema.describe('unavailable') },
      },
    },
    async (_request, reply) => {
      const readiness = await health.ready();
      reply.header('cache-control', 'no-store').code(readiness.status === 'unavailable' ? 503 : 200);
      return readiness;
    },
  );
}

/** For a process without an API, such as a worker. Listening is the caller's. */
export function buildHealthServer(health: Health, log: Logger): FastifyInstance {
  const fastify = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
  });
  useZodSchemas(fastify);
  registerProblems(fastify);
  registerHealth(fastify, health);
  return fastify;
}
