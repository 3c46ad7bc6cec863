import { PrismaPg } from '@prisma/adapter-pg';
import { BillingError } from '../errors.ts';
import { connectionError, sqlState } from './migration-session.ts';
import { migrationNames } from './migrations-folder.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const UNDEFINED_TABLE = '42P01';

export interface PendingOptions {
  databaseUrl: string;
  /** `prisma/migrations` of this package if left out. */
  migrationsDir?: string;
}

/**
 * For the start of API and worker, which never migrate.
 * @throws BillingError `configuration` that says what to run if anything is pending; `unavailable` if Postgres is away
 */
export async function requireMigrated(options: PendingOptions): Promise<void> {
  const pending = await pendingMigrations(options);
  if (pending.length === 0) return;
  throw new BillingError(
    'configuration',
    `The database lacks ${pending.join(', ')}. Run "npm run db:migrate"`,
  );
}

/**
 * Names of migrations that this build has and the database has not finished. One statement, works behind a pooler.
 * Migrations that only the database knows are no hindrance: during a release old processes start beside new ones.
 * @throws BillingError `unavailable` if Postgres cannot be reached, `configuration` if it refuses
 */
export async function pendingMigrations({ databaseUrl, migrationsDir }: PendingOptions): Promise<string[]> {
  const names = await migrationNames(migrationsDir);
  const finished = new Set(await finishedMigrations(databaseUrl));
  return names.filter((name) => !finished.has(name));
}

async function finishedMigrations(databaseUrl: string): Promise<string[]> {
  const adapter = await new PrismaPg({
    connectionString: databaseUrl,
    application_name: 'billonce-pending-migrations',
    max: 1,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
  }).connect();
  try {
    const { rows } = await adapter
      .underlyingDriver()
      .query(
        'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
      );
    return rows.map((row: { migration_name: string }) => row.migration_name);
  } catch (cause) {
    if (sqlState(cause) === UNDEFINED_TABLE) return [];
    throw connectionError(cause, databaseUrl);
  } finally {
    await adapter.dispose();
  }
}
