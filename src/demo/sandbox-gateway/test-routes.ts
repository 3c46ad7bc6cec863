/** For tests in other processes: the same orders that `ScriptedCalls` takes in this one. Off unless asked for. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { refusal, send } from './answer.ts';
import { type ScriptedCalls, scriptSchema } from './scripted-calls.ts';

const orderSchema = z.strictObject({ key: z.string().min(1), script: scriptSchema });
const releaseSchema = z.strictObject({ key: z.string().min(1) });

export function addTestRoutes(app: FastifyInstance, scripts: ScriptedCalls): void {
  /** `{ key, script }`: the next call with this key behaves so. */
  app.post('/v1/test/faults', async ({ body }, reply) => {
    const order = orderSchema.safeParse(body);
    if (!order.success) return send(reply, refusal(400, 'parameter_invalid', z.prettifyError(order.error)));
    scripts.next(order.data.key, order.data.script);
    return reply.code(204).send();
  });

  /** `{ key }`: the call that is held goes on. `GET /v1/calls` says whether one is. */
  app.post('/v1/test/release', async ({ body }, reply) => {
    const order = releaseSchema.safeParse(body);
    if (!order.success) return send(reply, refusal(400, 'parameter_invalid', z.prettifyError(order.error)));
    scripts.release(order.data.key);
    return reply.code(204).send();
  });
}
