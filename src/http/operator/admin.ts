/** Everything below `/admin`: log-in first, changes from our own pages only, nothing kept in caches. */
import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import type { Queue } from 'bullmq';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BillingError } from '../../errors.ts';
import type { Log } from '../../operations/ports.ts';
import { sendError } from '../problem.ts';
import { registerBoard } from './board.ts';
import { type LoginLimits, registerLogin } from './login.ts';
import { isOwnRequest } from './same-origin.ts';
import { type BoardAccount, openSessions, type Sessions } from './session.ts';

export interface AdminNeeds {
  account: BoardAccount;
  production: boolean;
  queues: readonly Queue[];
  limits: LoginLimits;
  log: Log;
}

export function registerAdmin(fastify: FastifyInstance, needs: AdminNeeds): void {
  const sessions = openSessions(needs.account, needs);
  fastify.register(
    async (admin) => {
      await admin.register(cookie);
      await admin.register(formbody);
      // Pages are no part of the API's contract.
      admin.addHook('onRoute', (route) => {
        route.schema = { ...route.schema, hide: true };
      });
      admin.addHook('onRequest', async (request, reply) => {
        if (!request.url.includes('/static/')) reply.header('cache-control', 'no-store');
        if (isOwnRequest(request)) return undefined;
        return refuse(request, reply, 'forbidden', 'This change does not come from a page of this server');
      });
      admin.get('/', async (_request, reply) => reply.redirect('/admin/queues', 303));
      registerLogin(admin, { account: needs.account, sessions, limits: needs.limits });
      await admin.register(async (inside) => {
        inside.addHook('onRequest', async (request, reply) => requireSession(sessions, request, reply));
        registerBoard(inside, needs);
      });
    },
    { prefix: '/admin' },
  );
}

/** A person is sent to the log-in page and back; a page's own request is refused. */
function requireSession(
  sessions: Sessions,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | undefined {
  if (sessions.isOpen(request)) return undefined;
  const isPage = request.method === 'GET' && !request.url.includes('/api/');
  if (isPage) return reply.redirect(`/admin/login?next=${encodeURIComponent(request.url)}`, 303);
  return refuse(request, reply, 'unauthorized', 'Log in at /admin/login');
}

/** Answered here: the board's own error handler knows nothing of our errors. */
function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  code: 'forbidden' | 'unauthorized',
  message: string,
): FastifyReply {
  return sendError(new BillingError(code, message), request, reply);
}
