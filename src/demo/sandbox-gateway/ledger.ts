/** The gateway's own books: what was really done, in the order in which it was done. */
import type { Attempt } from './attempt.ts';

export interface AttemptFilter {
  /** Captures only; otherwise whatever was executed, declines included. */
  capturedOnly: boolean;
  since?: Date | undefined;
  customer?: string | undefined;
  metadata: Readonly<Record<string, string>>;
}

export interface LedgerSummary {
  attempts: number;
  captures: number;
  declines: number;
  /** Captures beyond the first under one idempotency key. Anything but 0 is a double charge. */
  duplicateCaptures: number;
  duplicates: { idempotencyKey: string; captures: number }[];
  capturedMinorByCurrency: Record<string, string>;
}

export interface Ledger {
  record(attempt: Attempt): void;
  get(id: string): Attempt | null;
  /** Oldest first. `after` is the id that the last page ended with; null if no attempt has that id. */
  page(
    filter: AttemptFilter,
    limit: number,
    after?: string,
  ): { data: Attempt[]; nextCursor: string | null } | null;
  capturesUnder(key: string): number;
  summary(): LedgerSummary;
}

export function createLedger(): Ledger {
  const attempts: Attempt[] = [];
  const positions = new Map<string, number>();
  const capturesByKey = new Map<string, number>();
  const sums = new Map<string, bigint>();
  let captures = 0;

  return {
    record(attempt) {
      positions.set(attempt.id, attempts.length);
      attempts.push(attempt);
      if (attempt.status !== 'captured') return;
      captures += 1;
      capturesByKey.set(attempt.idempotencyKey, (capturesByKey.get(attempt.idempotencyKey) ?? 0) + 1);
      sums.set(attempt.currency, (sums.get(attempt.currency) ?? 0n) + BigInt(attempt.amountMinor));
    },
    get: (id) => attempts[positions.get(id) ?? -1] ?? null,
    page,
    capturesUnder: (key) => capturesByKey.get(key) ?? 0,
    summary,
  };

  function page(filter: AttemptFilter, limit: number, after?: string) {
    const start = after === undefined ? 0 : (positions.get(after) ?? -2) + 1;
    if (start < 0) return null;
    const matches = matcherOf(filter);
    const data: Attempt[] = [];
    for (let at = start; at < attempts.length; at += 1) {
      const attempt = attempts[at];
      if (!attempt || !matches(attempt)) continue;
      // One more is there: only now is it certain that another page is not empty.
      if (data.length === limit) return { data, nextCursor: data.at(-1)?.id ?? null };
      data.push(attempt);
    }
    return { data, nextCursor: null };
  }

  function summary(): LedgerSummary {
    const duplicates = [...capturesByKey]
      .filter(([, count]) => count > 1)
      .map(([idempotencyKey, count]) => ({ idempotencyKey, captures: count }));
    return {
      attempts: attempts.length,
      captures,
      declines: attempts.length - captures,
      duplicateCaptures: captures - capturesByKey.size,
      duplicates,
      capturedMinorByCurrency: Object.fromEntries(
        [...sums].map(([currency, sum]) => [currency, sum.toString()]),
      ),
    };
  }
}

function matcherOf({
  capturedOnly,
  since,
  customer,
  metadata,
}: AttemptFilter): (attempt: Attempt) => boolean {
  // Instants of one format compare as text.
  const from = since?.toISOString() ?? '';
  const pairs = Object.entries(metadata);
  return (attempt) =>
    (!capturedOnly || attempt.status === 'captured') &&
    attempt.createdAt >= from &&
    (customer === undefined || attempt.customer === customer) &&
    pairs.every(([name, value]) => attempt.metadata[name] === value);
}
