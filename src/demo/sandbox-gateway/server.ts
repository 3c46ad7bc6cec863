/**
 * A payment gateway that moves no money, with books and idempotency keys of its own: it outlives the workers that
 * call it, and says afterwards what really happened.
 */
import { type FastifyError, type FastifyInstance, fastify } from 'fastify';
import { refusal, send } from './answer.ts';
import { addCaptureRoute } from './capture-route.ts';
import { createIdempotencyStore } from './idempotency.ts';
import { openJournal } from './journal.ts';
import { createLedger } from './ledger.ts';
import { addLedgerRoutes } from './ledger-routes.ts';
import type { ScriptedCalls } from './scripted-calls.ts';
import { addTestRoutes } from './test-routes.ts';

const BODY_BYTES_MAX = 64 * 1024;
const SLOW_MS = 2_000;
const ACCOUNT = 'acct_sandbox';

export interface SandboxGatewayOptions {
  /** The journal's file; without one, everything is forgotten at the end. */
  dataFile?: string | undefined;
  /** Decides, together with the key, what `pm_seeded` does. */
  seed?: string | undefined;
  /** How long `pm_slow` thinks; 2 s. */
  slowMs?: number | undefined;
  account?: string | undefined;
  /** Given, a test may order the behaviour of single calls, here and through `/v1/test/…`. */
  scripts?: ScriptedCalls | undefined;
  now?: (() => Date) | undefined;
}

/**
 * Not listening yet. Closing it lets the calls under way end, held ones included.
 * @throws Error if the journal cannot be read
 */
export async function buildSandboxGateway(options: SandboxGatewayOptions = {}): Promise<FastifyInstance> {
  const clock = options.now ?? (() => new Date());
  const scripts = options.scripts ?? null;
  const ledger = createLedger();
  /** While the journal is read, keys are as old as they were written. */
  let replayedAtMs: number | null = null;
  const keys = createIdempotencyStore(() => replayedAtMs ?? clock().getTime());
  const journal = await openJournal(options.dataFile, (entry) => {
    replayedAtMs = entry.atMs;
    keys.countSend(entry.kind === 'send' ? entry.key : entry.attempt.idempotencyKey);
    if (entry.kind === 'send') return;
    ledger.record(entry.attempt);
    keys.keep(entry.attempt.idempotencyKey, entry.hash, entry.attempt);
  });
  replayedAtMs = null;

  // While it closes, a call on a connection that is still open is served like any other, as the last one there.
  let closing = false;
  const app = fastify({ logger: false, bodyLimit: BODY_BYTES_MAX, return503OnClosing: false });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) reply.header('connection', 'close');
    done();
  });
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    const status = error.statusCode ?? 500;
    return send(reply, refusal(status, status < 500 ? 'request_invalid' : 'internal', error.message));
  });
  app.setNotFoundHandler((_request, reply) =>
    send(reply, refusal(404, 'not_found', 'There is nothing here.')),
  );
  addCaptureRoute(app, {
    account: options.account ?? ACCOUNT,
    seed: options.seed ?? '0',
    slowMs: options.slowMs ?? SLOW_MS,
    now: clock,
    keys,
    ledger,
    journal,
    scripts,
  });
  addLedgerRoutes(app, { ledger, keys, scripts });
  if (scripts) addTestRoutes(app, scripts);
  app.addHook('preClose', async () => {
    closing = true;
    scripts?.releaseAll();
  });
  app.addHook('onClose', async () => journal.close());
  return app;
}
