/** What goes back over the wire, decided before anything is written to it. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Attempt } from './attempt.ts';

export interface Answer {
  status: number;
  body: object | string;
  headers?: Readonly<Record<string, string>>;
}

/** 200 for a capture, 402 for a decline; the same again for every replay. */
export function answerOf(attempt: Attempt): Answer {
  if (attempt.status === 'captured') return { status: 200, body: attempt };
  return {
    status: 402,
    body: {
      error: {
        code: 'declined',
        message: 'The payment method was declined.',
        declineCode: attempt.declineCode,
        capture: attempt,
      },
    },
  };
}

export function refusal(status: number, code: string, message: string): Answer {
  return { status, body: { error: { code, message } } };
}

export function send(reply: FastifyReply, answer: Answer): FastifyReply {
  return reply
    .code(answer.status)
    .headers({ ...answer.headers })
    .type('application/json')
    .send(answer.body);
}

/** Ends the connection without a reply. */
export function cut(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.hijack();
  request.raw.socket.destroy();
  return reply;
}
