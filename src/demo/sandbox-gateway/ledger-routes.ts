/** What really happened: the gateway's books, for whoever asks. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { refusal, send } from './answer.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { Ledger } from './ledger.ts';
import type { ScriptedCalls } from './scripted-calls.ts';

const PAGE_LIMIT_MAX = 1_000;

const pageSchema = z.object({
  since: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .optional(),
  cursor: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(PAGE_LIMIT_MAX).default(100),
  customer: z.string().optional(),
});
const callsSchema = z.object({ key: z.string().min(1) });
const METADATA_PARAMETER = /^metadata\[([^\]]{1,40})\]$/;

export interface LedgerRoutesNeeds {
  ledger: Ledger;
  keys: IdempotencyStore;
  scripts: ScriptedCalls | null;
}

export function addLedgerRoutes(app: FastifyInstance, { ledger, keys, scripts }: LedgerRoutesNeeds): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/v1/ledger/summary', async () => ledger.summary());
  app.get('/v1/captures', async ({ query }, reply) => sendPage(reply, query, true));
  app.get('/v1/attempts', async ({ query }, reply) => sendPage(reply, query, false));

  /** By reference, whatever came of it. */
  app.get<{ Params: { id: string } }>('/v1/captures/:id', async ({ params }, reply) => {
    const attempt = ledger.get(params.id);
    if (!attempt) return send(reply, refusal(404, 'not_found', 'There is no capture with this id.'));
    return send(reply, { status: 200, body: attempt });
  });

  /** How many calls a key has received in its 24 hours, and what came of them. */
  app.get('/v1/calls', async ({ query }, reply) => {
    const parsed = callsSchema.safeParse(query);
    if (!parsed.success) return send(reply, refusal(400, 'parameter_invalid', 'key: is missing'));
    const { key } = parsed.data;
    const held = scripts?.isHeld(key) ?? false;
    return send(reply, {
      status: 200,
      body: { key, sends: keys.sends(key), captures: ledger.capturesUnder(key), held },
    });
  });

  function sendPage(reply: FastifyReply, query: unknown, capturedOnly: boolean): FastifyReply {
    const parsed = pageSchema.safeParse(query);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      return send(reply, refusal(400, 'parameter_invalid', `${issue?.path.join('.')}: ${issue?.message}`));
    }
    const { limit, cursor, since, customer } = parsed.data;
    const page = ledger.page({ capturedOnly, since, customer, metadata: metadataOf(query) }, limit, cursor);
    if (!page)
      return send(reply, refusal(400, 'parameter_invalid', 'cursor: is none that this ledger gave out'));
    return send(reply, { status: 200, body: page });
  }
}

/** `metadata[name]=value`, any number of them; all have to match. */
function metadataOf(query: unknown): Record<string, string> {
  const pairs = Object.entries(query ?? {}).flatMap(([parameter, value]) => {
    const name = METADATA_PARAMETER.exec(parameter)?.[1];
    return name === undefined ? [] : [[name, String(value)]];
  });
  return Object.fromEntries(pairs);
}
