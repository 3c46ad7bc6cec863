import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils';
import { ColumnTypeEnum, DriverAdapterError } from '@prisma/driver-adapter-utils';
import type { PgAdapter } from './migration-session.ts';

/** Postgres' type `"char"`: one byte, used in its own catalogues only. */
const CHAR_OID = 18;
const TEXT_OID = 25;

/** The adapter with two of its habits mended that are harmless to a client and not to migrations. */
export function engineAdapter(adapter: PgAdapter): SqlDriverAdapter {
  const charColumnsOf = readCharColumns(adapter);
  return {
    provider: adapter.provider,
    adapterName: adapter.adapterName,
    executeRaw: (query) => adapter.executeRaw(query),
    startTransaction: (isolationLevel) => adapter.startTransaction(isolationLevel),
    getConnectionInfo: () => adapter.getConnectionInfo(),
    queryRaw: async (query) => {
      const result = await adapter.queryRaw(query);
      for (const index of charColumnsOf(result.rows)) result.columnTypes[index] = ColumnTypeEnum.Character;
      return result;
    },
    executeScript: (script) => executeWhole(adapter, script),
    dispose: async () => {},
  };
}

/** The adapter refuses `"char"` columns, which the engine reads from `pg_constraint`: pass them off as text, note where. */
function readCharColumns(adapter: PgAdapter): (rows: unknown) => readonly number[] {
  const noted = new WeakMap<object, number[]>();
  const pool = adapter.underlyingDriver();
  const query = pool.query.bind(pool) as (...args: unknown[]) => Promise<Result>;
  const noting = async (...args: unknown[]): Promise<Result> => {
    const result = await query(...args);
    const columns = (result.fields ?? []).flatMap((field, index) =>
      field.dataTypeID === CHAR_OID ? [index] : [],
    );
    for (const field of result.fields ?? []) if (field.dataTypeID === CHAR_OID) field.dataTypeID = TEXT_OID;
    if (columns.length > 0) noted.set(result.rows, columns);
    return result;
  };
  Object.assign(pool, { query: noting });
  return (rows) => noted.get(rows as object) ?? [];
}

/** `fields` and `rows` are missing where several statements were run at once. */
interface Result {
  fields?: { dataTypeID: number }[];
  rows: object[];
}

/**
 * The adapter cuts a script at every semicolon, those in comments, strings and `DO $$ … $$` included. Handed over
 * whole, as Prisma's binary does it, it is also one transaction unless it says otherwise.
 */
async function executeWhole(adapter: PgAdapter, script: string): Promise<void> {
  try {
    await adapter.underlyingDriver().query(script);
  } catch (error) {
    throw asDriverError(error);
  }
}

function asDriverError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || !('severity' in error)) return error;
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const { code, severity, message } = error;
  return new DriverAdapterError({
    kind: 'postgres',
    code: String(code),
    severity: String(severity),
    message,
    detail: 'detail' in error ? text(error.detail) : undefined,
    column: 'column' in error ? text(error.column) : undefined,
    hint: 'hint' in error ? text(error.hint) : undefined,
  });
}
