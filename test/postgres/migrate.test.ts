import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { migrateDatabase } from '../../src/postgres/migrate.ts';
import { type MigrationSession, openMigrationSession } from '../../src/postgres/migration-session.ts';
import { readMigrationsFolder, schemaPath } from '../../src/postgres/migrations-folder.ts';
import { pendingMigrations, requireMigrated } from '../../src/postgres/pending-migrations.ts';
import { schemaDiff, writeMigration } from '../../src/postgres/schema-diff.ts';
import { freshDatabase } from '../support/services.ts';
import { runMigrateMain, waitUntil } from './migrate-support.ts';

const THROWAWAY_DATABASES = "SELECT 1 FROM pg_database WHERE datname LIKE 'billonce_diff_%'";
const UNREACHABLE = 'postgresql://billonce:s3cret@127.0.0.1:1/billonce';

describe('migrateDatabase', () => {
  test('brings a fresh database up, with the history that prisma migrate deploy writes', async () => {
    const database = await emptyDatabase();
    const { migrations } = await readMigrationsFolder();
    const lines: string[] = [];

    const { applied } = await migrateDatabase({ databaseUrl: database.url, log: (line) => lines.push(line) });

    expect(applied).toEqual(migrations.map(({ name }) => name));
    expect(lines).toEqual(applied.map((name) => `applied ${name}`));
    const history = await database.query<HistoryRow>('SELECT * FROM _prisma_migrations ORDER BY started_at');
    expect(history.map(({ migration_name, checksum }) => ({ migration_name, checksum }))).toEqual(
      migrations.map(({ name, sql }) => ({ migration_name: name, checksum: sha256(sql) })),
    );
    for (const row of history) {
      expect(row).toMatchObject({ applied_steps_count: 1, rolled_back_at: null, logs: null });
      expect(row.finished_at?.getTime()).toBeGreaterThanOrEqual(row.started_at.getTime());
    }
  });

  test('does nothing when run twice', async () => {
    const database = await emptyDatabase();
    await migrateDatabase({ databaseUrl: database.url });
    const before = await database.query('SELECT * FROM _prisma_migrations');

    expect(await migrateDatabase({ databaseUrl: database.url })).toEqual({ applied: [] });
    expect(await database.query('SELECT * FROM _prisma_migrations')).toEqual(before);
  });

  test('applies each migration once when two processes start at the same time', async () => {
    const database = await emptyDatabase();
    const holder = await openMigrationSession(database.url);
    await holder.lock({ waitMs: 1_000, onBusy: () => {} });
    const runs = [runMigrateMain(database.url), runMigrateMain(database.url)];
    // Both stand in front of the lock before either can look at the database.
    await waitUntil(async () => (await waitingForLock(database)) === 2);
    await holder[Symbol.asyncDispose]();

    const results = await Promise.all(runs);

    expect(results.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
      { code: 0, stderr: '' },
      { code: 0, stderr: '' },
    ]);
    expect(results.filter(({ stdout }) => stdout.includes('applied '))).toHaveLength(1);
    expect(results.filter(({ stdout }) => stdout.includes('is up to date'))).toHaveLength(1);
    const { migrations } = await readMigrationsFolder();
    expect(await database.query('SELECT 1 FROM _prisma_migrations')).toHaveLength(migrations.length);
  }, 60_000);

  test('waits for a migration that is under way, and does not take it for one that failed', async () => {
    const database = await emptyDatabase();
    await using folder = await folderOf({ '1_slow': 'SELECT pg_advisory_xact_lock(1);' });
    const lines: string[] = [];
    const migrate = () =>
      migrateDatabase({
        databaseUrl: database.url,
        migrationsDir: folder.path,
        log: (line) => lines.push(line),
      });
    const brake = await openMigrationSession(database.url);
    await brake.query('SELECT pg_advisory_lock(1)');
    const first = migrate();
    await waitUntil(async () => (await waitingForLock(database)) === 1);
    const second = migrate();
    await waitUntil(async () => (await waitingForLock(database)) === 2);
    await brake[Symbol.asyncDispose]();

    expect(await first).toEqual({ applied: ['1_slow'] });
    expect(await second).toEqual({ applied: [] });
    expect(lines).toEqual(['another migration is running; waiting for it', 'applied 1_slow']);
  });

  test('gives up in front of a lock that stays busy', async () => {
    const database = await emptyDatabase();
    await using holder = await openMigrationSession(database.url);
    await holder.lock({ waitMs: 1_000, onBusy: () => {} });
    const lines: string[] = [];

    const run = migrateDatabase({
      databaseUrl: database.url,
      lockWaitMs: 50,
      log: (line) => lines.push(line),
    });

    await expect(run).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/Another migration/),
    });
    expect(lines).toEqual(['another migration is running; waiting for it']);
  });

  test('refuses a migration that was edited after it was applied', async () => {
    const database = await emptyDatabase();
    await using folder = await folderOf({
      '1_first': 'CREATE TABLE first (id int);',
      '2_second': 'SELECT 1;',
    });
    await migrateDatabase({ databaseUrl: database.url, migrationsDir: folder.path });
    await folder.write('1_first', 'CREATE TABLE first (id bigint);');
    await folder.write('3_third', 'CREATE TABLE third (id int);');

    await expect(
      migrateDatabase({ databaseUrl: database.url, migrationsDir: folder.path }),
    ).rejects.toMatchObject({
      code: 'configuration',
      message: expect.stringContaining('Edited after being applied: 1_first.'),
    });
    expect(await tables(database)).not.toContain('third');
  });

  test('refuses a database that is newer than this build', async () => {
    const database = await emptyDatabase();
    await using newer = await folderOf({ '1_first': 'SELECT 1;', '2_newer': 'SELECT 2;' });
    await using older = await folderOf({ '1_first': 'SELECT 1;' });
    await migrateDatabase({ databaseUrl: database.url, migrationsDir: newer.path });

    await expect(
      migrateDatabase({ databaseUrl: database.url, migrationsDir: older.path }),
    ).rejects.toMatchObject({
      code: 'configuration',
      message: expect.stringMatching(/newer than this build.*2_newer/),
    });
  });

  test('leaves nothing of a migration that fails, and goes on once that is said', async () => {
    const database = await emptyDatabase();
    await using folder = await folderOf({
      '1_good': 'CREATE TABLE good (id int);',
      '2_bad': 'CREATE TABLE half (id int); CREATE TABLE half (id int);',
    });
    const migrate = () => migrateDatabase({ databaseUrl: database.url, migrationsDir: folder.path });

    await expect(migrate()).rejects.toMatchObject({
      code: 'configuration',
      message: expect.stringMatching(/^Migration 2_bad failed: .*relation "half" already exists/),
    });
    expect(await tables(database)).toEqual(['_prisma_migrations', 'good']);

    const again = await migrate().catch((error: Error) => error.message);
    expect(again).toMatch(/^Migration 2_bad failed earlier/);
    await folder.write('2_bad', 'CREATE TABLE whole (id int);');
    const remedy = /UPDATE .*NULL;/.exec(String(again))?.[0] ?? '';
    await database.query(remedy);
    expect(await migrate()).toEqual({ applied: ['2_bad'] });
  });

  test('runs a migration as it is written, semicolons in comments, strings and bodies included', async () => {
    const database = await emptyDatabase();
    await using folder = await folderOf({
      '1_semicolons': `-- first this; then that
        CREATE TABLE notes (body text DEFAULT 'a;b');
        DO $$ BEGIN INSERT INTO notes DEFAULT VALUES; INSERT INTO notes VALUES ('c;'); END $$;`,
    });

    await migrateDatabase({ databaseUrl: database.url, migrationsDir: folder.path });

    expect(await database.query('SELECT body FROM notes')).toEqual([{ body: 'a;b' }, { body: 'c;' }]);
  });

  test('is not bound by the time limits that the role has for short statements', async () => {
    const database = await emptyDatabase();
    await migrateDatabase({ databaseUrl: database.url });
    await using folder = await folderOf({
      '1_limits': `CREATE TABLE seen AS SELECT current_setting('statement_timeout') AS statement_timeout,
        (SELECT count(*) FROM pg_db_role_setting WHERE setdatabase =
          (SELECT oid FROM pg_database WHERE datname = current_database())) > 0 AS role_has_limits;`,
    });
    await cp(join(dirname(schemaPath()), 'migrations'), folder.path, { recursive: true });

    await migrateDatabase({ databaseUrl: database.url, migrationsDir: folder.path });

    expect(await database.query('SELECT * FROM seen')).toEqual([
      { statement_timeout: '0', role_has_limits: true },
    ]);
  });

  test('says in one sentence where Postgres was looked for, without the password', async () => {
    const error: unknown = await migrateDatabase({ databaseUrl: UNREACHABLE }).catch(
      (caught: unknown) => caught,
    );

    expect(error).toMatchObject({
      code: 'unavailable',
      message: 'Postgres cannot be reached at 127.0.0.1:1/billonce',
    });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('s3cret');
  });
});

describe('pendingMigrations', () => {
  test('names what a fresh, a halfway and a migrated database lack', async () => {
    const database = await emptyDatabase();
    await using folder = await folderOf({ '1_first': 'SELECT 1;' });
    const options = { databaseUrl: database.url, migrationsDir: folder.path };
    expect(await pendingMigrations(options)).toEqual(['1_first']);

    await migrateDatabase(options);
    expect(await pendingMigrations(options)).toEqual([]);
    await requireMigrated(options);

    await folder.write('2_bad', 'SELECT nonsense;');
    await expect(migrateDatabase(options)).rejects.toThrow('2_bad');
    expect(await pendingMigrations(options)).toEqual(['2_bad']);
    await expect(requireMigrated(options)).rejects.toMatchObject({
      code: 'configuration',
      message: 'The database lacks 2_bad. Run "npm run db:migrate"',
    });
  });

  test('does not mind migrations of a later build', async () => {
    const database = await emptyDatabase();
    await using newer = await folderOf({ '1_first': 'SELECT 1;', '2_newer': 'SELECT 2;' });
    await using older = await folderOf({ '1_first': 'SELECT 1;' });
    await migrateDatabase({ databaseUrl: database.url, migrationsDir: newer.path });

    expect(await pendingMigrations({ databaseUrl: database.url, migrationsDir: older.path })).toEqual([]);
  });

  test('is unavailable without Postgres', async () => {
    await expect(pendingMigrations({ databaseUrl: UNREACHABLE })).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});

describe('schema.prisma', () => {
  test('agrees with the migrations', async () => {
    expect(await schemaDiff({ databaseUrl: await freshDatabase({ empty: true }) })).toBeNull();
  }, 30_000);

  test('gets a migration that closes the gap, and touches nothing that Prisma cannot say', async () => {
    await using folder = await folderOf({});
    await cp(join(dirname(schemaPath()), 'migrations'), folder.path, { recursive: true });
    const schemaFile = join(folder.path, 'schema.prisma');
    const schema = await readFile(schemaPath(), 'utf8');
    await writeFile(schemaFile, schema.replace(/^model Customer \{/m, '$&\n  nickname String?'));
    const options = {
      databaseUrl: await freshDatabase({ empty: true }),
      migrationsDir: folder.path,
      schemaFile,
    };
    const before = await readdir(folder.path);

    const path = await writeMigration({ ...options, name: 'Add a nickname!' });

    expect(path).toMatch(/\d{14}_add_a_nickname\/migration\.sql$/);
    const sql = await readFile(String(path), 'utf8');
    expect(sql.replace(/\s+/g, ' ').trim()).toBe(
      '-- AlterTable ALTER TABLE "customers" ADD COLUMN "nickname" TEXT;',
    );
    const added = (await readdir(folder.path)).filter((name) => !before.includes(name));
    const { migrations } = await readMigrationsFolder(folder.path);
    expect(added).toEqual([migrations.at(-1)?.name]);
    expect(await writeMigration({ ...options, name: 'again' })).toBeNull();
  }, 30_000);

  test('is named as the culprit if it cannot be read, and no throwaway database stays behind', async () => {
    await using folder = await folderOf({});
    const schemaFile = join(folder.path, 'schema.prisma');
    await writeFile(
      schemaFile,
      'datasource db {\n  provider = "postgresql"\n}\nmodel Odd {\n  id Strang @id\n}\n',
    );

    const databaseUrl = await freshDatabase({ empty: true });
    await expect(schemaDiff({ databaseUrl, migrationsDir: folder.path, schemaFile })).rejects.toMatchObject({
      code: 'configuration',
      message: expect.stringContaining('"Strang"'),
    });
    // Somebody else may compare on the same server; what stays behind never goes.
    await using session = await openMigrationSession(databaseUrl);
    await waitUntil(async () => (await session.query(THROWAWAY_DATABASES)).length === 0);
  });
});

interface HistoryRow {
  migration_name: string;
  checksum: string;
  started_at: Date;
  finished_at: Date | null;
  applied_steps_count: number;
}

type TestDatabase = Pick<MigrationSession, 'query'>;

async function emptyDatabase() {
  const url = await freshDatabase({ empty: true });
  const query = async <Row>(sql: string): Promise<Row[]> => {
    await using session = await openMigrationSession(url);
    return await session.query<Row>(sql);
  };
  return { url, query };
}

async function folderOf(migrations: Record<string, string>) {
  const path = await mkdtemp(join(tmpdir(), 'billonce-migrations-'));
  const write = async (name: string, sql: string) => {
    await mkdir(join(path, name), { recursive: true });
    await writeFile(join(path, name, 'migration.sql'), sql);
  };
  await writeFile(join(path, 'migration_lock.toml'), 'provider = "postgresql"\n');
  for (const [name, sql] of Object.entries(migrations)) await write(name, sql);
  return { path, write, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

async function tables(database: TestDatabase): Promise<string[]> {
  const rows = await database.query<{ tablename: string }>(
    "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename",
  );
  return rows.map(({ tablename }) => tablename);
}

async function waitingForLock(database: TestDatabase): Promise<number> {
  const rows = await database.query(
    `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return rows.length;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
