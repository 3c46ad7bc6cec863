/** Making and dropping databases; the only SQL of the demo's services. */
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import type { FreshDatabase, PostgresService } from './services.ts';

const CONNECT_LIMIT_MS = 5_000;
const STATEMENT_LIMIT_MS = 30_000;

export interface RunDatabases extends Pick<PostgresService, 'url' | 'freshDatabase'> {
  /** Of the server: `18.4`. */
  version: string;
  /** Drops the fresh databases that are left and, unless `keepOwn`, the run's own. */
  dropAll(options?: { keepOwn?: boolean }): Promise<void>;
}

/**
 * Makes the run's own database, unless it is there.
 *
 * @param serverUrl names a database that exists, whose user may create others
 * @param options.name of the run's own database; a random one if absent
 */
export async function openRunDatabases(
  serverUrl: string,
  options: { name?: string } = {},
): Promise<RunDatabases> {
  const name = options.name ?? `billonce_${randomBytes(6).toString('hex')}`;
  const version = await withClient(serverUrl, async (client) => {
    const known = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (known.rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
    const shown = await client.query<{ server_version: string }>('SHOW server_version');
    return shown.rows[0]?.server_version.split(' ')[0] ?? 'unknown';
  });
  return {
    version,
    url: withDatabase(serverUrl, name),
    freshDatabase: ({ template } = {}) => createFreshDatabase(withDatabase(serverUrl, name), template),
    dropAll: ({ keepOwn = false } = {}) =>
      withClient(serverUrl, async (client) => {
        const left = await client.query<{ datname: string }>(
          'SELECT datname FROM pg_database WHERE starts_with(datname, $1)',
          [freshStem(name)],
        );
        for (const { datname } of left.rows) await drop(client, datname);
        if (!keepOwn) await drop(client, name);
      }),
  };
}

/** A new database beside the run's own, from any process that knows the run's URL. */
export async function createFreshDatabase(ownUrl: string, template = 'template1'): Promise<FreshDatabase> {
  const own = decodeURIComponent(new URL(ownUrl).pathname.slice(1));
  const name = `${freshStem(own)}${randomBytes(5).toString('hex')}`;
  await withClient(ownUrl, async (client) => {
    const quoted = { name: client.escapeIdentifier(name), template: client.escapeIdentifier(template) };
    await client.query(`CREATE DATABASE ${quoted.name} TEMPLATE ${quoted.template}`);
    await copySettings(client, template, name);
  });
  return {
    name,
    url: withDatabase(ownUrl, name),
    drop: () => withClient(ownUrl, (client) => drop(client, name)),
  };
}

/** A template gives its content; what ALTER ROLE … IN DATABASE said of it (time limits) has to be said again. */
async function copySettings(client: Client, from: string, to: string): Promise<void> {
  const settings = await client.query<{ role: string | null; name: string; value: string }>(
    `SELECT role.rolname AS role, split_part(item, '=', 1) AS name, substr(item, strpos(item, '=') + 1) AS value
       FROM pg_db_role_setting setting
       JOIN pg_database ON pg_database.oid = setting.setdatabase AND datname = $1
       LEFT JOIN pg_roles role ON role.oid = setting.setrole, unnest(setting.setconfig) item`,
    [from],
  );
  for (const { role, name, value } of settings.rows) {
    const database = client.escapeIdentifier(to);
    const whose =
      role === null
        ? `DATABASE ${database}`
        : `ROLE ${client.escapeIdentifier(role)} IN DATABASE ${database}`;
    await client.query(
      `ALTER ${whose} SET ${client.escapeIdentifier(name)} = ${client.escapeLiteral(value)}`,
    );
  }
}

/** Resolves if the server takes this URL's user and password. */
export async function askPostgres(url: string): Promise<void> {
  await withClient(url, (client) => client.query('SELECT 1'));
}

function freshStem(ownName: string): string {
  return `${ownName}_fresh_`;
}

async function drop(client: Client, name: string): Promise<void> {
  await client.query(`DROP DATABASE IF EXISTS ${client.escapeIdentifier(name)} WITH (FORCE)`);
}

async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    query_timeout: STATEMENT_LIMIT_MS,
  });
  client.on('error', () => {}); // a lost connection fails the query that waits for it
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
