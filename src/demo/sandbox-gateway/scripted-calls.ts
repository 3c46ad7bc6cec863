/** Behaviour that a test orders for the next calls with one key, whatever their payment method says. */
import { EventEmitter, once } from 'node:events';
import { z } from 'zod';

export const scriptSchema = z.discriminatedUnion('kind', [
  /** Answered so, with nothing executed and nothing stored. `rawBody` stands in for the usual error object. */
  z.strictObject({
    kind: z.literal('answer'),
    status: z.int().min(200).max(599),
    code: z.string().optional(),
    retryAfter: z.string().optional(),
    rawBody: z.string().optional(),
  }),
  /** The connection is cut; before that the call is executed and its answer stored, or nothing is done. */
  z.strictObject({ kind: z.literal('cut'), executes: z.boolean() }),
  /**
   * Held until it is released. Executed first, its answer is stored and only the reply is missing; otherwise it
   * executes on release, and the key is in use until then.
   */
  z.strictObject({ kind: z.literal('hold'), executes: z.boolean() }),
]);

export type Script = z.infer<typeof scriptSchema>;

export interface ScriptedCalls {
  /** For one call; several for a key are used up in their order. */
  next(key: string, script: Script): void;
  take(key: string): Script | null;
  /** For the gateway: resolves when the call is released. */
  hold(key: string): Promise<void>;
  /** For the test: resolves as soon as a call with this key is held. */
  held(key: string, options?: { signal?: AbortSignal }): Promise<void>;
  isHeld(key: string): boolean;
  release(key: string): void;
  releaseAll(): void;
}

export function scriptedCalls(): ScriptedCalls {
  const scripts = new Map<string, Script[]>();
  const releases = new Map<string, () => void>();
  const arrivals = new EventEmitter();

  return {
    next(key, script) {
      scripts.set(key, [...(scripts.get(key) ?? []), script]);
    },
    take(key) {
      const [script, ...later] = scripts.get(key) ?? [];
      if (later.length > 0) scripts.set(key, later);
      else scripts.delete(key);
      return script ?? null;
    },
    hold(key) {
      return new Promise((resolve) => {
        releases.set(key, resolve);
        arrivals.emit(`held ${key}`);
      });
    },
    async held(key, options) {
      if (!releases.has(key)) await once(arrivals, `held ${key}`, options);
    },
    isHeld: (key) => releases.has(key),
    release,
    releaseAll() {
      for (const key of releases.keys()) release(key);
    },
  };

  function release(key: string): void {
    releases.get(key)?.();
    releases.delete(key);
  }
}
