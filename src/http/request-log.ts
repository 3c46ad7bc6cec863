import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Asked again and again by machines and open tabs; at the usual level they would bury everything else. */
const ROUTINE = /^\/(healthz|readyz|admin\/queues|docs)(\/|$)/;

/**
 * One line per request, without body, headers, query or address: the route is named by its pattern, since paths
 * may hold a customer's own names.
 */
export function logRequests(fastify: FastifyInstance): void {
  fastify.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unmatched';
    const line = {
      method: request.method,
      route,
      status: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime),
      ...callerOf(request),
    };
    const routine = ROUTINE.test(route) && reply.statusCode < 400;
    request.log[routine ? 'debug' : 'info'](line, 'request');
  });
}

function callerOf(request: FastifyRequest): { caller?: string } {
  return request.caller ? { caller: request.caller.name } : {};
}
