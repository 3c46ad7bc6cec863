/**
 * `POST /v1/captures`. One call: counted, checked, matched with its key, executed at most once, and answered, unless
 * its payment method or a test wants it otherwise.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { type Answer, answerOf, cut, refusal, send } from './answer.ts';
import { type CaptureRequestBody, captureRequestSchema, newAttempt, requestHash } from './attempt.ts';
import { faultOf, type SandboxFault } from './faults.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { Journal } from './journal.ts';
import type { Ledger } from './ledger.ts';
import type { Script, ScriptedCalls } from './scripted-calls.ts';

const KEY_LENGTH_MAX = 255;

export interface CaptureRouteNeeds {
  account: string;
  seed: string;
  slowMs: number;
  now: () => Date;
  keys: IdempotencyStore;
  ledger: Ledger;
  journal: Journal;
  scripts: ScriptedCalls | null;
}

/** Null means that the connection is cut in place of an answer. */
type Ending = Answer | null;

interface Call {
  key: string;
  sendNo: number;
  body: CaptureRequestBody;
  fault: SandboxFault;
  script: Script | null;
}

export function addCaptureRoute(app: FastifyInstance, needs: CaptureRouteNeeds): void {
  const { keys, ledger, journal, scripts } = needs;

  app.post('/v1/captures', async (request, reply) => {
    const key = request.headers['idempotency-key'];
    if (typeof key !== 'string' || key === '' || key.length > KEY_LENGTH_MAX) {
      return send(
        reply,
        refusal(
          400,
          'idempotency_key_invalid',
          `Send an Idempotency-Key of 1 to ${KEY_LENGTH_MAX} characters.`,
        ),
      );
    }
    const ending = await receive(key, request.body);
    return ending === null ? cut(request, reply) : send(reply, ending);
  });

  async function receive(key: string, body: unknown): Promise<Ending> {
    const sendNo = keys.countSend(key);
    const script = scripts?.take(key) ?? null;
    if (script?.kind === 'answer') return withoutEffect(key, scriptedAnswer(script));
    if (script?.kind === 'cut' && !script.executes) return withoutEffect(key, null);
    const parsed = captureRequestSchema.safeParse(body);
    if (!parsed.success) return withoutEffect(key, faultyBody(parsed.error));
    const fault = faultOf(parsed.data.paymentMethod, needs.seed, key);
    if (!fault) return withoutEffect(key, unknownPaymentMethod(parsed.data.paymentMethod));
    if (fault.firstSend === 'cut_before' && sendNo === 1) return withoutEffect(key, null);
    return matchKey({ key, sendNo, body: parsed.data, fault, script });
  }

  async function matchKey(call: Call): Promise<Ending> {
    const hash = requestHash(call.body);
    const claim = keys.claim(call.key, hash);
    switch (claim.kind) {
      case 'mismatch':
        return withoutEffect(
          call.key,
          refusal(400, 'parameter_mismatch', 'This key was used with other parameters.'),
        );
      case 'in_use':
        return withoutEffect(
          call.key,
          refusal(409, 'key_in_use', 'Another call with this key is under way.'),
        );
      case 'replay':
        return withoutEffect(call.key, {
          ...answerOf(claim.attempt),
          headers: { 'idempotent-replayed': 'true' },
        });
      case 'execute':
        try {
          return await execute(call, hash);
        } finally {
          keys.release(call.key);
        }
      default:
        return claim satisfies never;
    }
  }

  async function execute({ key, sendNo, body, fault, script }: Call, hash: string): Promise<Ending> {
    if (script?.kind === 'hold' && !script.executes) await scripts?.hold(key);
    if (fault.slow) await delay(needs.slowMs);
    const at = needs.now();
    const attempt = newAttempt(body, fault.verdict, { account: needs.account, idempotencyKey: key, at });
    await journal.append({ kind: 'attempt', atMs: at.getTime(), hash, attempt });
    ledger.record(attempt);
    keys.keep(key, hash, attempt);
    if (script?.kind === 'hold' && script.executes) await scripts?.hold(key);
    const replyIsLost = script?.kind === 'cut' || (fault.firstSend === 'cut_after' && sendNo === 1);
    return replyIsLost ? null : answerOf(attempt);
  }

  async function withoutEffect(key: string, ending: Ending): Promise<Ending> {
    await journal.append({ kind: 'send', atMs: needs.now().getTime(), key });
    return ending;
  }
}

function scriptedAnswer({ status, code, retryAfter, rawBody }: Extract<Script, { kind: 'answer' }>): Answer {
  const answer = refusal(status, code ?? 'scripted', 'A test asked for this answer.');
  return {
    ...answer,
    ...(rawBody === undefined ? {} : { body: rawBody }),
    ...(retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } }),
  };
}

function faultyBody(error: z.ZodError): Answer {
  const [issue] = error.issues;
  const field = issue?.path.join('.') || 'body';
  return refusal(400, 'parameter_invalid', `${field}: ${issue?.message ?? 'is invalid'}`);
}

function unknownPaymentMethod(paymentMethod: string): Answer {
  return refusal(
    400,
    'unknown_payment_method',
    `There is no payment method ${JSON.stringify(paymentMethod)}.`,
  );
}
