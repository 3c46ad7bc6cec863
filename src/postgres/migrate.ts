import type {
  DiagnoseMigrationHistoryOutput,
  SchemaEngine,
} from '@prisma/schema-engine-wasm/schema_engine_bg';
import { BillingError } from '../errors.ts';
import { connectionError, type MigrationSession, openMigrationSession } from './migration-session.ts';
import { type MigrationsFolder, readMigrationsFolder } from './migrations-folder.ts';
import { engineMessage, migrationList, NO_FILTER, openSchemaEngine } from './schema-engine.ts';

/** How long to stand behind another migration of the same database. */
const LOCK_WAIT_MS = 300_000;

export interface MigrateOptions {
  /** Past a pooler: the lock and the time limits belong to one session. */
  databaseUrl: string;
  /** `prisma/migrations` of this package if left out. */
  migrationsDir?: string;
  lockWaitMs?: number;
  log?: (message: string) => void;
}

/**
 * Applies what the database has not seen yet, in the order of the folder, each migration in one transaction. Run
 * twice, or by two processes at once: each migration is applied once, the later run finds nothing to do. The history
 * is the one that `prisma migrate deploy` reads and writes.
 * @throws BillingError `configuration` if a migration was edited after it was applied, failed earlier, fails now, or
 *   is unknown to this build; nothing is applied then, apart from what went well before the one that fails now
 * @throws BillingError `unavailable` if Postgres cannot be reached, or another migration runs for too long
 */
export async function migrateDatabase({
  databaseUrl,
  migrationsDir,
  lockWaitMs = LOCK_WAIT_MS,
  log = () => {},
}: MigrateOptions): Promise<{ applied: string[] }> {
  const folder = await readMigrationsFolder(migrationsDir);
  await using session = await openMigrationSession(databaseUrl);
  // Before the first look: a migration that is under way looks like one that failed.
  await session.lock({
    waitMs: lockWaitMs,
    onBusy: () => log('another migration is running; waiting for it'),
  });
  using engine = await openSchemaEngine(session);
  refuseBrokenHistory(await diagnose(engine, folder));
  const applied = await apply(engine, folder, () => failedMigrations(session, databaseUrl));
  for (const name of applied) log(`applied ${name}`);
  return { applied };
}

async function diagnose(
  engine: SchemaEngine,
  folder: MigrationsFolder,
): Promise<DiagnoseMigrationHistoryOutput> {
  try {
    return await engine.diagnoseMigrationHistory({
      migrationsList: migrationList(folder),
      optInToShadowDatabase: false,
      filters: NO_FILTER,
    });
  } catch (cause) {
    throw new BillingError(
      'configuration',
      `The history of migrations cannot be read: ${engineMessage(cause)}`,
      { cause },
    );
  }
}

function refuseBrokenHistory(found: DiagnoseMigrationHistoryOutput): void {
  const [failed] = found.failedMigrationNames;
  if (failed !== undefined) {
    throw new BillingError('configuration', `Migration ${failed} failed earlier. ${remedyForFailed(failed)}`);
  }
  // The engine alone would pass over an edited file without a word.
  if (found.editedMigrationNames.length > 0) {
    const names = found.editedMigrationNames.join(', ');
    throw new BillingError(
      'configuration',
      `Edited after being applied: ${names}. Restore the file and write a new migration instead`,
    );
  }
  const unknown =
    found.history && 'unpersistedMigrationNames' in found.history
      ? found.history.unpersistedMigrationNames
      : [];
  if (unknown.length > 0) {
    throw new BillingError(
      'configuration',
      `The database is newer than this build, which does not know ${unknown.join(', ')}. Use the build that brought it`,
    );
  }
}

async function apply(
  engine: SchemaEngine,
  folder: MigrationsFolder,
  findFailed: () => Promise<string[]>,
): Promise<string[]> {
  try {
    const result = await engine.applyMigrations({
      migrationsList: migrationList(folder),
      filters: NO_FILTER,
    });
    return result.appliedMigrationNames;
  } catch (cause) {
    const [failed] = await findFailed();
    if (failed === undefined)
      throw new BillingError('configuration', `Migrating failed: ${engineMessage(cause)}`, { cause });
    throw new BillingError(
      'configuration',
      `Migration ${failed} failed: ${engineMessage(cause)}. ${remedyForFailed(failed)}`,
      { cause },
    );
  }
}

async function failedMigrations(session: MigrationSession, databaseUrl: string): Promise<string[]> {
  try {
    const rows = await session.query<{ migration_name: string }>(
      'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NULL AND rolled_back_at IS NULL',
    );
    return rows.map((row) => row.migration_name);
  } catch (cause) {
    throw connectionError(cause, databaseUrl);
  }
}

/** What `prisma migrate resolve --rolled-back` does, for machines that cannot download what that needs. */
function remedyForFailed(name: string): string {
  return (
    'It was rolled back as a whole unless it commits by itself. When the database is as it was before, say so with ' +
    `UPDATE _prisma_migrations SET rolled_back_at = now() WHERE migration_name = '${name}' AND finished_at IS NULL; and migrate again`
  );
}
