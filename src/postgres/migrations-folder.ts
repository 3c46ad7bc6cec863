import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BillingError } from '../errors.ts';

export interface MigrationsFolder {
  path: string;
  /** Content of `migration_lock.toml`, which names the kind of database. */
  lockfile: string | null;
  /** In the order in which they are applied. */
  migrations: readonly Migration[];
}

export interface Migration {
  /** The folder's name: `<timestamp>_<what it does>`. */
  name: string;
  sql: string;
}

export const LOCKFILE = 'migration_lock.toml';
export const MIGRATION_FILE = 'migration.sql';

/** @throws BillingError `configuration` if there is no such folder, or a migration in it has no file */
export async function readMigrationsFolder(path = migrationsPath()): Promise<MigrationsFolder> {
  const names = await migrationNames(path);
  const migrations = await Promise.all(
    names.map(async (name) => ({ name, sql: await readSql(join(path, name)) })),
  );
  const lockfile = join(path, LOCKFILE);
  return { path, lockfile: existsSync(lockfile) ? await readFile(lockfile, 'utf8') : null, migrations };
}

/** The names alone, in order. @throws BillingError `configuration` if there is no such folder */
export async function migrationNames(path = migrationsPath()): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort();
  } catch (cause) {
    throw new BillingError('configuration', `The migrations cannot be read from ${path}`, { cause });
  }
}

export function migrationsPath(): string {
  return join(packageRoot(), 'prisma', 'migrations');
}

export function schemaPath(): string {
  return join(packageRoot(), 'prisma', 'schema.prisma');
}

/** The same folder from `src/` and from the build in `dist/src/`. */
function packageRoot(): string {
  const start = dirname(fileURLToPath(import.meta.url));
  let folder = start;
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new BillingError('configuration', `No package.json above ${start}`);
    folder = parent;
  }
  return folder;
}

async function readSql(folder: string): Promise<string> {
  try {
    return await readFile(join(folder, MIGRATION_FILE), 'utf8');
  } catch (cause) {
    throw new BillingError('configuration', `${folder} holds no readable ${MIGRATION_FILE}`, { cause });
  }
}
