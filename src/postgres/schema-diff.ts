import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BillingError } from '../errors.ts';
import { migrateDatabase } from './migrate.ts';
import { connectionError, openMigrationSession, sqlState } from './migration-session.ts';
import { LOCKFILE, MIGRATION_FILE, migrationNames, migrationsPath, schemaPath } from './migrations-folder.ts';
import { engineMessage, NO_FILTER, openSchemaEngine } from './schema-engine.ts';

const INSUFFICIENT_PRIVILEGE = '42501';
/** The engine's exit code for "not the same". */
const DIFFERENT = 2;

export interface DiffOptions {
  /** A server on which this role may create a database; the database in the address is only connected to. */
  databaseUrl: string;
  /** `prisma/migrations` and `prisma/schema.prisma` of this package if left out. */
  migrationsDir?: string;
  schemaFile?: string;
}

/**
 * Writes the next migration: what has to change in a database that has all of them to agree with `schema.prisma`.
 * @returns the path of the new file, null if there is no difference. Run twice: the second run finds none.
 * @throws BillingError `invalid` for a name without a letter or digit; otherwise as `schemaDiff`
 */
export async function writeMigration({
  name,
  ...options
}: DiffOptions & { name: string }): Promise<string | null> {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
  if (slug === '') throw new BillingError('invalid', 'A migration needs a name, such as add_dispute_date');
  const sql = await schemaDiff(options);
  if (sql === null) return null;
  const { migrationsDir = migrationsPath() } = options;
  const last = (await migrationNames(migrationsDir)).at(-1);
  const folder = join(migrationsDir, `${nextTimestamp(new Date(), last)}_${slug}`);
  await mkdir(folder);
  await writeFile(join(folder, MIGRATION_FILE), sql);
  await writeFile(join(migrationsDir, LOCKFILE), 'provider = "postgresql"\n');
  return join(folder, MIGRATION_FILE);
}

/**
 * SQL that leads from the migrations to `schema.prisma`, null if they agree. The migrations are applied to a throwaway
 * database for it. Partial indexes and CHECKs, which Prisma's language cannot say, make no difference.
 * @throws BillingError `configuration` for a faulty schema or migration, or a role that may not create databases;
 *   `unavailable` if Postgres cannot be reached
 */
export async function schemaDiff(options: DiffOptions): Promise<string | null> {
  const schema = await readFile(options.schemaFile ?? schemaPath(), 'utf8');
  return withThrowawayDatabase(options.databaseUrl, async (databaseUrl) => {
    await migrateDatabase({
      databaseUrl,
      ...(options.migrationsDir ? { migrationsDir: options.migrationsDir } : {}),
    });
    return compare(databaseUrl, schema);
  });
}

async function withThrowawayDatabase<T>(
  serverUrl: string,
  use: (databaseUrl: string) => Promise<T>,
): Promise<T> {
  const name = `billonce_diff_${randomBytes(6).toString('hex')}`;
  await using server = await openMigrationSession(serverUrl);
  try {
    // From template0: the migrations must stand by themselves, without what somebody put into template1.
    await server.query(`CREATE DATABASE ${name} TEMPLATE template0`);
  } catch (cause) {
    if (sqlState(cause) !== INSUFFICIENT_PRIVILEGE) throw connectionError(cause, serverUrl);
    throw new BillingError(
      'configuration',
      'The role may not create databases, and the comparison needs one for a moment',
      { cause },
    );
  }
  try {
    const url = new URL(serverUrl);
    url.pathname = `/${name}`;
    return await use(url.href);
  } finally {
    await server.query(`DROP DATABASE ${name} WITH (FORCE)`);
  }
}

async function compare(databaseUrl: string, schema: string): Promise<string | null> {
  const files = [{ path: 'schema.prisma', content: schema }];
  await using session = await openMigrationSession(databaseUrl);
  try {
    using engine = await openSchemaEngine(session, schema);
    const { exitCode, stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: '.' },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: NO_FILTER,
    });
    return exitCode === DIFFERENT ? stdout : null;
  } catch (cause) {
    throw new BillingError('configuration', `schema.prisma cannot be compared: ${engineMessage(cause)}`, {
      cause,
    });
  }
}

/** `YYYYMMDDHHMMSS` in UTC, and always after the last migration, whatever this machine's clock says. */
function nextTimestamp(now: Date, lastName: string | undefined): string {
  const clock = now.toISOString().replace(/[-:T]/g, '').slice(0, 14);
  const last = /^\d{14}/.exec(lastName ?? '')?.[0] ?? '';
  return clock > last ? clock : String(BigInt(last) + 1n);
}
