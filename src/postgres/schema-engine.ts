/**
 * Prisma's schema engine, compiled to WebAssembly: the binary that `prisma migrate` would use has to be downloaded,
 * this comes from the package registry. It keeps the same history in `_prisma_migrations`.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import type { MigrationList, SchemaEngine, SchemaFilter } from '@prisma/schema-engine-wasm/schema_engine_bg';
import { BillingError } from '../errors.ts';
import { engineAdapter } from './engine-adapter.ts';
import type { MigrationSession } from './migration-session.ts';
import { LOCKFILE, MIGRATION_FILE, type MigrationsFolder } from './migrations-folder.ts';

const GLUE = '@prisma/schema-engine-wasm/schema_engine_bg';

/** Every table is ours. */
export const NO_FILTER: SchemaFilter = { externalTables: [], externalEnums: [] };

/** An engine on this session's connection; the session closes it. One engine per schema: it remembers the first. */
export async function openSchemaEngine(session: MigrationSession, schema?: string): Promise<SchemaEngine> {
  loading ??= loadEngine();
  const { SchemaEngine } = await loading;
  const adapter = engineAdapter(session.adapter);
  const factory = bindMigrationAwareSqlAdapterFactory({
    provider: adapter.provider,
    adapterName: adapter.adapterName,
    connect: async () => adapter,
    connectToShadowDb: async () => {
      throw new BillingError('configuration', 'The engine is not given a shadow database');
    },
  });
  return SchemaEngine.new(
    { datamodels: schema === undefined ? undefined : [['schema.prisma', schema]] },
    () => {},
    factory,
  );
}

export function migrationList({ path, lockfile, migrations }: MigrationsFolder): MigrationList {
  return {
    baseDir: path,
    lockfile: { path: LOCKFILE, content: lockfile },
    shadowDbInitScript: '',
    migrationDirectories: migrations.map(({ name, sql }) => ({
      path: name,
      migrationFile: { path: MIGRATION_FILE, content: { tag: 'ok', value: sql } },
    })),
  };
}

/** The first sentence of what the engine says; its stack of Rust functions follows after that. */
export function engineMessage(error: unknown): string {
  const [message = ''] = (error instanceof Error ? error.message : String(error)).split(/\n\s+0: /);
  return message
    .replace(/^external connector error\s+/, '')
    .replace(/^Error querying the database: /, '')
    .trim();
}

type Glue = typeof import('@prisma/schema-engine-wasm/schema_engine_bg');
/** Node has it; the types of Node 20 leave it to those of the browser. */
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: object,
  ): Promise<{ instance: { exports: Record<string, unknown> } }>;
};
let loading: Promise<Glue> | undefined;

/** By hand, because Node 20 cannot import a `.wasm` file, which is what the package's own entry does. */
async function loadEngine(): Promise<Glue> {
  const glue: Glue = await import(GLUE);
  const path = createRequire(import.meta.url)
    .resolve(GLUE)
    .replace(/\.js$/, '.wasm');
  const imports = { './schema_engine_bg.js': withoutLingeringTimers(glue) };
  const { instance } = await WebAssembly.instantiate(await readFile(path), imports);
  // A panic cannot be caught: without this the process would end with "unreachable", or wait for ever.
  Object.assign(globalThis, {
    PRISMA_WASM_PANIC_REGISTRY: {
      set_message: (message: string) => {
        throw new Error(`Prisma's schema engine gave up: ${message}`);
      },
    },
  });
  glue.__wbg_set_wasm(instance.exports);
  (instance.exports.__wbindgen_start as () => void)();
  return glue;
}

/** The engine never clears the timer that limits its wait for the lock: the process would live 10 s too long. */
function withoutLingeringTimers(glue: Glue): Record<string, unknown> {
  const setUnref = (callback: () => void, delayMs: number) => setTimeout(callback, delayMs).unref();
  return Object.fromEntries(
    Object.entries(glue).map(([name, value]) => [
      name,
      name.startsWith('__wbg_setTimeout_') ? setUnref : value,
    ]),
  );
}
