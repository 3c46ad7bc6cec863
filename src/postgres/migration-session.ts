import { PrismaPg } from '@prisma/adapter-pg';
import { BillingError } from '../errors.ts';
import { describeDatabase } from './describe-database.ts';

const CONNECT_TIMEOUT_MS = 5_000;
/** A change of a table waits this long for the table at most: everything that comes after it waits behind it. */
const TABLE_LOCK_TIMEOUT_MS = 10_000;
/** The key that Prisma's own engine locks, so that `prisma migrate deploy` and this wait for one another. */
const MIGRATION_LOCK_KEY = 72_707_369;

const LOCK_NOT_AVAILABLE = '55P03';
/** SQLSTATE classes: connection, resources, shutting down or starting up, system error. */
const PASSING_CLASSES = /^(08|53|57|58)/;

export type PgAdapter = Awaited<ReturnType<PrismaPg['connect']>>;

/** One connection of its own, past the role's time limits, which are made for short statements. */
export interface MigrationSession {
  adapter: PgAdapter;
  query<Row>(sql: string): Promise<Row[]>;
  /** Holds the migration lock until the session ends. @throws BillingError `unavailable` if it stays busy */
  lock(options: { waitMs: number; onBusy: () => void }): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * The lock and the limits belong to the session: behind a pooler in transaction mode neither holds, so give it the
 * server's own address (`DATABASE_DIRECT_URL`).
 * @throws BillingError `unavailable` if Postgres cannot be reached, `configuration` if it refuses
 */
export async function openMigrationSession(databaseUrl: string): Promise<MigrationSession> {
  const adapter = await new PrismaPg({
    connectionString: databaseUrl,
    application_name: 'billonce-migrate',
    // A second connection would neither hold the lock nor have the limits; an idle one must not be closed.
    max: 1,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  }).connect();
  const query = async <Row>(sql: string): Promise<Row[]> =>
    (await adapter.underlyingDriver().query(sql)).rows;
  const close = () => adapter.dispose();
  try {
    await query('SET statement_timeout = 0');
    await query('SET idle_in_transaction_session_timeout = 0');
    await query(`SET lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}`);
  } catch (cause) {
    await close();
    throw connectionError(cause, databaseUrl);
  }
  return { adapter, query, lock: (options) => lockMigrations(query, options), [Symbol.asyncDispose]: close };
}

async function lockMigrations(
  query: MigrationSession['query'],
  { waitMs, onBusy }: { waitMs: number; onBusy: () => void },
): Promise<void> {
  const [first] = await query<{ held: boolean }>(
    `SELECT pg_try_advisory_lock(${MIGRATION_LOCK_KEY}) AS held`,
  );
  if (first?.held) return;
  onBusy();
  await query(`SET lock_timeout = ${waitMs}`);
  try {
    await query(`SELECT pg_advisory_lock(${MIGRATION_LOCK_KEY})`);
  } catch (cause) {
    if (sqlState(cause) !== LOCK_NOT_AVAILABLE) throw cause;
    throw new BillingError(
      'unavailable',
      `Another migration has been running for ${waitMs / 1000} s; try again later`,
      { cause },
    );
  }
  await query(`SET lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}`);
}

/** Postgres' own words name users and databases, never a password. */
export function connectionError(cause: unknown, databaseUrl: string): BillingError {
  const place = describeDatabase(databaseUrl);
  const state = sqlState(cause);
  if (state === null || PASSING_CLASSES.test(state)) {
    return new BillingError('unavailable', `Postgres cannot be reached at ${place}`, { cause });
  }
  return new BillingError(
    'configuration',
    `Postgres at ${place} refuses: ${cause instanceof Error ? cause.message : cause}`,
    { cause },
  );
}

/** Null for whatever did not come from Postgres itself, such as a refused connection. */
export function sqlState(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : null;
}
