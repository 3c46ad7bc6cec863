/**
 * Keys and what they stand for. A key is bound to its first executed request for 24 hours: the same request is
 * answered from memory, another one is refused, and a second call during the first has to wait its turn.
 */
import type { Attempt } from './attempt.ts';

export const KEY_LIFE_MS = 24 * 60 * 60 * 1000;

export type Claim =
  /** Nothing was executed under this key: the caller executes, and then calls `keep` or `release`. */
  { kind: 'execute' } | { kind: 'replay'; attempt: Attempt } | { kind: 'mismatch' } | { kind: 'in_use' };

export interface IdempotencyStore {
  /** Counts a call, whatever becomes of it. Answers how many the key has received, this one included. */
  countSend(key: string): number;
  claim(key: string, hash: string): Claim;
  keep(key: string, hash: string, attempt: Attempt): void;
  /** The execution came to nothing; the key is as if it had not been claimed. Harmless after `keep`. */
  release(key: string): void;
  sends(key: string): number;
}

interface Entry {
  firstSentAtMs: number;
  sends: number;
  bound: { hash: string; attempt: Attempt | null } | null;
}

export function createIdempotencyStore(nowMs: () => number): IdempotencyStore {
  /** In the order of their first calls, so that the oldest are at the front. */
  const entries = new Map<string, Entry>();

  return {
    countSend(key) {
      forgetOldKeys();
      const entry = entryOf(key);
      entry.sends += 1;
      return entry.sends;
    },
    claim(key, hash) {
      const entry = entryOf(key);
      if (!entry.bound) {
        entry.bound = { hash, attempt: null };
        return { kind: 'execute' };
      }
      if (entry.bound.hash !== hash) return { kind: 'mismatch' };
      return entry.bound.attempt ? { kind: 'replay', attempt: entry.bound.attempt } : { kind: 'in_use' };
    },
    keep(key, hash, attempt) {
      entryOf(key).bound = { hash, attempt };
    },
    release(key) {
      const entry = entries.get(key);
      if (entry?.bound?.attempt === null) entry.bound = null;
    },
    sends: (key) => entries.get(key)?.sends ?? 0,
  };

  function entryOf(key: string): Entry {
    const known = entries.get(key);
    if (known) return known;
    const entry: Entry = { firstSentAtMs: nowMs(), sends: 0, bound: null };
    entries.set(key, entry);
    return entry;
  }

  function forgetOldKeys(): void {
    const oldestMs = nowMs() - KEY_LIFE_MS;
    for (const [key, entry] of entries) {
      if (entry.firstSentAtMs > oldestMs) return;
      entries.delete(key);
    }
  }
}
