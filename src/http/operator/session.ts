/**
 * Sessions of operators are signed, expiring cookies and need no store: they hold through restarts, across API
 * processes and while Redis is away. The key is derived from the secret, the user and the password's hash, so that
 * changing any of them ends every session. The price: log-out forgets the cookie, but cannot revoke a stolen copy,
 * which lives for the rest of its 8 hours.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { type CookieSerializeOptions, Signer } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface BoardAccount {
  user: string;
  passwordHash: string;
  sessionSecret: string;
}

export interface Sessions {
  /** A new value at each log-in: whatever cookie was there before is worth nothing. */
  start(reply: FastifyReply): void;
  isOpen(request: FastifyRequest): boolean;
  end(reply: FastifyReply): void;
  /** The log-in form's token, which comes back in a cookie and in the form. */
  formToken(request: FastifyRequest, reply: FastifyReply): string;
  isFormToken(request: FastifyRequest, token: string): boolean;
}

const SESSION_MAX_SECONDS = 8 * 60 * 60;
const FORM_MAX_SECONDS = 60 * 60;

export function openSessions(account: BoardAccount, options: { production: boolean }): Sessions {
  const { production } = options;
  // The prefix makes browsers refuse such a cookie from a sibling domain or over plain HTTP.
  const prefix = production ? '__Host-' : '';
  const session = ticket('session', SESSION_MAX_SECONDS);
  const form = ticket('form', FORM_MAX_SECONDS);

  return {
    start: (reply) => void session.give(reply),
    isOpen: (request) => session.read(request) !== null,
    end: (reply) => session.take(reply),
    // A second tab must not spoil the first one's form.
    formToken: (request, reply) => form.read(request) ?? form.give(reply),
    isFormToken: (request, token) => token !== '' && form.read(request) === token,
  };

  function ticket(purpose: 'session' | 'form', maxSeconds: number) {
    const name = `${prefix}billonce-${purpose}`;
    const signer = new Signer(keyFor(purpose));
    const cookie: CookieSerializeOptions = {
      path: '/',
      httpOnly: true,
      sameSite: 'strict',
      secure: production,
    };
    return {
      give(reply: FastifyReply): string {
        const value = signer.sign(`${nowSeconds() + maxSeconds}.${randomBytes(24).toString('base64url')}`);
        reply.setCookie(name, value, { ...cookie, maxAge: maxSeconds });
        return value;
      },
      read(request: FastifyRequest): string | null {
        const signed = request.cookies[name];
        if (signed === undefined) return null;
        const { valid, value } = signer.unsign(signed);
        return valid && Number(value?.split('.')[0]) > nowSeconds() ? signed : null;
      },
      take(reply: FastifyReply): void {
        reply.clearCookie(name, cookie);
      },
    };
  }

  function keyFor(purpose: string): Buffer {
    const subject = JSON.stringify([purpose, account.user, account.passwordHash]);
    return createHmac('sha256', account.sessionSecret).update(subject).digest();
  }
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
