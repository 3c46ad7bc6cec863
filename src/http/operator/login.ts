/** Logging in and out of the operator's pages. */
import '@fastify/cookie';
import '@fastify/rate-limit';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type LoginForm, renderLoginPage, renderLogoutPage } from './login-page.ts';
import { requirePasswordHash, verifyPassword } from './password.ts';
import type { BoardAccount, Sessions } from './session.ts';

export interface LoginLimits {
  /** Per address, the successful ones among them. */
  attempts: number;
  windowMs: number;
}

export const LOGIN_LIMITS: LoginLimits = { attempts: 20, windowMs: 10 * 60_000 };
const HOME = '/admin/queues';
const FORM_BYTES_MAX = 4 * 1024;
/** A check costs 32 MiB and one of Node's few threads. */
const CHECKS_AT_ONCE_MAX = 2;

const formSchema = z.object({
  token: z.string(),
  next: z.string().optional(),
  user: z.string().max(256),
  password: z.string().max(1024),
});

/**
 * `/admin/login` and `/admin/logout`. Needs cookies, form bodies and rate limits around it.
 * @throws BillingError `configuration` if the account's password hash is none
 */
export function registerLogin(
  fastify: FastifyInstance,
  { account, sessions, limits }: { account: BoardAccount; sessions: Sessions; limits: LoginLimits },
): void {
  requirePasswordHash(account.passwordHash);
  const countAttempt = fastify.createRateLimit({ max: limits.attempts, timeWindow: limits.windowMs });
  let checksUnderWay = 0;

  fastify.get<{ Querystring: { next?: unknown } }>('/login', async (request, reply) => {
    const next = safeNext(request.query.next);
    if (sessions.isOpen(request)) return reply.redirect(next, 303);
    return show(request, reply, { status: 200, next });
  });

  fastify.post('/login', { bodyLimit: FORM_BYTES_MAX }, async (request, reply) => {
    const form = formSchema.safeParse(request.body);
    const next = safeNext(form.data?.next);
    if (!form.success || !sessions.isFormToken(request, form.data.token)) {
      return show(request, reply, { status: 403, next, fault: 'This form had expired. Please try again.' });
    }
    const { user, password } = form.data;
    const attempts = await countAttempt(request);
    if (!attempts.isAllowed && attempts.isExceeded)
      return tooMany(request, reply, attempts.ttlInSeconds, next);
    if (checksUnderWay >= CHECKS_AT_ONCE_MAX) return tooMany(request, reply, 1, next);
    if (!(await isRight(user, password))) {
      request.log.warn({ operator: 'refused' }, 'log-in refused');
      return show(request, reply, { status: 401, next, user, fault: 'User or password is wrong.' });
    }
    sessions.start(reply);
    request.log.info({ operator: account.user }, 'log-in');
    return reply.redirect(next, 303);
  });

  fastify.get('/logout', async (_request, reply) => html(reply, 200, renderLogoutPage()));

  fastify.post('/logout', async (_request, reply) => {
    sessions.end(reply);
    return reply.redirect('/admin/login', 303);
  });

  /** Both are compared, whichever is wrong, so that the time tells nothing about the user's name. */
  async function isRight(user: string, password: string): Promise<boolean> {
    checksUnderWay += 1;
    try {
      const passwordIsRight = await verifyPassword(password, account.passwordHash);
      return timingSafeEqual(sha256(user), sha256(account.user)) && passwordIsRight;
    } finally {
      checksUnderWay -= 1;
    }
  }

  function tooMany(
    request: FastifyRequest,
    reply: FastifyReply,
    seconds: number,
    next: string,
  ): FastifyReply {
    reply.header('retry-after', seconds);
    const wait = seconds > 60 ? `${Math.ceil(seconds / 60)} minutes` : `${seconds} s`;
    return show(request, reply, { status: 429, next, fault: `Too many attempts. Try again in ${wait}.` });
  }

  function show(
    request: FastifyRequest,
    reply: FastifyReply,
    { status, ...form }: Omit<LoginForm, 'token'> & { status: number },
  ): FastifyReply {
    return html(reply, status, renderLoginPage({ ...form, token: sessions.formToken(request, reply) }));
  }
}

/** Never to another server: only a plain path below /admin is followed. */
export function safeNext(next: unknown): string {
  if (typeof next !== 'string' || next.length > 512) return HOME;
  return /^\/admin\/(?!log(in|out))[\w.-]+(\/[\w.-]+)*(\?[\w.=&%-]*)?$/.test(next) ? next : HOME;
}

function html(reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply.code(status).type('text/html; charset=utf-8').send(page);
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
