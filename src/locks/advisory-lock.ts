import { createHash } from 'node:crypto';
import { BillingError } from '../errors.ts';

/** What the locks need of Prisma's transaction client. */
export interface RawTransaction {
  $queryRaw<T = unknown>(query: TemplateStringsArray, ...values: unknown[]): Promise<T>;
  $executeRaw(query: TemplateStringsArray, ...values: unknown[]): Promise<number>;
}

/**
 * Waits for the key's advisory lock and runs `fn` under it. Transaction-scoped: commit, rollback and the end of
 * the connection all release it, and a transaction-mode pooler can neither lose nor leak it. So `fn` works
 * through `tx`, and the lock lasts until `tx` ends, not until `fn` returns. Taking it twice in one transaction is
 * fine.
 *
 * Nothing but Postgres may be waited for inside: a blocked waiter keeps its connection, and is not cancelled when
 * its transaction times out. The server's `lock_timeout` ends its wait.
 */
export async function withAdvisoryLock<Tx extends RawTransaction, T>(
  tx: Tx,
  key: string,
  fn: (tx: Tx) => Promise<T>,
): Promise<T> {
  // Executed, not queried: the function's void result cannot be read as a row.
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${advisoryLockId(key)}::bigint)`;
  return await fn(tx);
}

/** Takes the key's advisory lock until `tx` ends, if it is free. False at once if another transaction has it. */
export async function tryAdvisoryLock(tx: RawTransaction, key: string): Promise<boolean> {
  const id = advisoryLockId(key);
  const rows = await tx.$queryRaw<
    { locked: boolean }[]
  >`SELECT pg_try_advisory_xact_lock(${id}::bigint) AS locked`;
  return rows[0]?.locked === true;
}

/**
 * The number Postgres locks: the first 64 bits of the key's SHA-256 (UTF-8), big-endian, as a signed integer.
 * Two keys that share it would merely wait for each other.
 *
 * @throws BillingError `invalid` for an empty key
 */
export function advisoryLockId(key: string): bigint {
  if (key === '') throw new BillingError('invalid', 'An advisory lock needs a key that is not empty');
  return createHash('sha256').update(key, 'utf8').digest().readBigInt64BE(0);
}
