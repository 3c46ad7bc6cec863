import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createFreshDatabase } from '../../src/demo/services/databases.ts';
import { openEmbeddedPostgres } from '../../src/demo/services/embedded-postgres.ts';
import { openGuard } from '../../src/demo/services/guard.ts';
import { openLocalRedis } from '../../src/demo/services/local-redis.ts';
import { type OpenServicesOptions, openServices } from '../../src/demo/services/open-services.ts';
import type { Services } from '../../src/demo/services/services.ts';
import { descendantsOf, type RunningProcess, stillRunning } from '../support/processes.ts';
import { freshDatabase, freshPrefix, redisUrl } from '../support/services.ts';

/** Empty where Redis runs in a container only; nothing can be embedded then. */
const LOCAL_REDIS = execFileSync(
  '/bin/sh',
  ['-c', 'command -v redis-server || command -v valkey-server || true'],
  {
    encoding: 'utf8',
  },
).trim();
const START_TIMEOUT_MS = 60_000;
const WAIT_LIMIT_MS = 15_000;
const EMBEDDED = { PATH: process.env.PATH, SERVICES: 'embedded' };

describe('what is refused', () => {
  test('an unknown value of SERVICES is refused by its name', async () => {
    const opening = openServices({ announce() {}, environment: { SERVICES: 'podman' } });
    await expect(opening).rejects.toMatchObject({
      code: 'configuration',
      message: expect.stringContaining('"podman"'),
    });
  });

  test('SERVICES=containers without an engine says in one sentence where it was looked for', async () => {
    const opening = openServices({
      announce() {},
      environment: { SERVICES: 'containers', DOCKER_HOST: 'unix:///nowhere/docker.sock' },
    });
    await expect(opening).rejects.toMatchObject({
      code: 'unavailable',
      message:
        'SERVICES=containers, but no container engine answers at unix:///nowhere/docker.sock: start Docker, or unset SERVICES',
    });
  });

  test('an engine that accepts and never answers is given up after two seconds', async () => {
    const silent = createServer((socket) => socket.on('error', () => {}));
    const port = await new Promise<number>((resolve) => {
      silent.listen(0, '127.0.0.1', () => resolve((silent.address() as { port: number }).port));
    });
    onTestFinished(() => void silent.close());
    const startedMs = performance.now();
    const opening = openServices({
      announce() {},
      environment: { SERVICES: 'containers', DOCKER_HOST: `tcp://127.0.0.1:${port}` },
    });
    await expect(opening).rejects.toMatchObject({ code: 'unavailable' });
    expect(performance.now() - startedMs).toBeLessThan(4_000);
  });

  test('containers that should keep data are refused', async () => {
    const opening = openServices({
      announce() {},
      dataDir: '/nowhere',
      environment: { SERVICES: 'containers' },
    });
    await expect(opening).rejects.toMatchObject({ code: 'configuration' });
  });

  test.each([
    ['TEST_DATABASE_URL', 'mysql://127.0.0.1/x', 'configuration'],
    ['TEST_DATABASE_URL', 'postgresql://u:secret@127.0.0.1:1/x', 'unavailable'],
    ['TEST_REDIS_URL', 'nonsense', 'configuration'],
    ['TEST_REDIS_URL', 'redis://:secret@127.0.0.1:1', 'unavailable'],
  ])('%s=%s is not replaced by a guess', async (name, value, code) => {
    const given = { TEST_DATABASE_URL: await freshDatabase({ empty: true }), TEST_REDIS_URL: redisUrl() };
    const opening = openServices({ announce() {}, environment: { ...given, [name]: value } });
    const error = await opening.then(
      () => null,
      (reason: Error) => reason,
    );
    expect(error).toMatchObject({ code });
    expect(error?.message).toContain(name);
    expect(error?.message).not.toContain('secret');
  });

  test('without Redis and without a way to install it, one sentence says what to install', async () => {
    const url = await freshDatabase({ empty: true });
    const before = await databaseNames(url);
    const folder = await folderWithAptGet('echo "E: no network" >&2; exit 100');
    const opening = openServices({
      announce() {},
      environment: { PATH: folder, TEST_DATABASE_URL: url, DOCKER_HOST: 'unix:///nowhere/docker.sock' },
    });
    await expect(opening).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(
        /^Redis was neither found nor started .*\/nowhere\/.*install redis-server or valkey-server/,
      ),
    });
    const left = (await databaseNames(url)).filter((name) => /^billonce_[0-9a-f]{12}$/.test(name));
    expect(before).toEqual(expect.arrayContaining(left));
  });
});

describe.runIf(process.getuid?.() === 0 && existsSync('/etc/debian_version') && LOCAL_REDIS !== '')(
  'installing Redis',
  () => {
    test('is announced first, and the server that it brought is used', async () => {
      const folder = await folderWithAptGet(
        `case "$*" in *install*) /bin/ln -s ${LOCAL_REDIS} "$PATH/redis-server";; esac`,
      );
      const announced: string[] = [];
      const guard = openGuard();
      onTestFinished(() => guard.close());
      const redis = await openLocalRedis(guard, {
        announce: (line) => announced.push(line),
        environment: { PATH: folder },
        deadlineMs: Date.now() + WAIT_LIMIT_MS,
      });
      onTestFinished(() => redis.close());
      expect(announced).toEqual([expect.stringContaining('installing it with apt-get')]);
      expect(redis.description).toContain(`from ${folder}/redis-server`);
      expect(await onRedis(redis.service.url, (client) => client.ping())).toBe('PONG');
    });
  },
);

describe('servers that are given', () => {
  test('get a database and a prefix for the run, and are left as they were', async () => {
    const url = await freshDatabase({ empty: true });
    const foreign = `${freshPrefix()}:stays`;
    await onRedis(redisUrl(), (redis) => redis.set(foreign, 'x'));

    const services = await openServices({
      announce() {},
      environment: { TEST_DATABASE_URL: url, TEST_REDIS_URL: redisUrl() },
    });
    expect(services.postgres).toMatchObject({ kind: 'given', server: null });
    expect(services.redis).toMatchObject({ kind: 'given', server: null });
    expect(new URL(services.postgres.url).pathname).toMatch(/^\/billonce_[0-9a-f]{12}$/);
    const fresh = await services.postgres.freshDatabase();
    const keys = [`${services.redis.prefix}:a`, `${services.redis.freshPrefix()}:b`];
    await onRedis(redisUrl(), (redis) => redis.mset(keys.flatMap((key) => [key, 'x'])));
    const held = await connected(fresh.url); // a test that forgot to disconnect

    await services.close();
    await held.end().catch(() => {});
    const after = await databaseNames(url);
    expect(after).not.toContain(fresh.name);
    expect(after).not.toContain(new URL(services.postgres.url).pathname.slice(1));
    expect(await onRedis(redisUrl(), (redis) => redis.exists(...keys))).toBe(0);
    expect(await onRedis(redisUrl(), (redis) => redis.del(foreign))).toBe(1);
  });
});

describe.runIf(LOCAL_REDIS !== '')('embedded servers', () => {
  let services: Services;
  beforeAll(async () => {
    services = await openServices({ announce() {}, environment: EMBEDDED });
  }, START_TIMEOUT_MS);
  afterAll(() => services.close());

  test('are as durable as production, count statements, evict nothing and listen on the loopback alone', async () => {
    const client = await connected(services.postgres.url);
    onTestFinished(() => client.end());
    const shown = async (name: string) => (await client.query(`SHOW ${name}`)).rows[0]?.[name];
    expect(await shown('server_version')).toMatch(/^18\./);
    expect(await shown('fsync')).toBe('on');
    expect(await shown('synchronous_commit')).toBe('on');
    expect(await shown('listen_addresses')).toBe('127.0.0.1');
    await client.query('CREATE EXTENSION pg_stat_statements');
    await client.query("ALTER SYSTEM SET log_min_duration_statement = '7s'"); // not shadowed by an option
    await client.query('SELECT pg_reload_conf()');
    await waitUntil(async () => (await shown('log_min_duration_statement')) === '7s');

    const asked = await onRedis(services.redis.url, (redis) => redis.config('GET', 'maxmemory-policy'));
    expect(asked).toEqual(['maxmemory-policy', 'noeviction']);
    const stranger = services.redis.url.replace(/:[0-9a-f]+@/, '');
    await expect(onRedis(stranger, (redis) => redis.set('a', 'b'))).rejects.toThrow();
  });

  test(
    'come back on the same port after a stop and after kill -9, with what was committed',
    async () => {
      const { server, url } = services.postgres;
      await onPostgres(url, (client) => client.query('CREATE TABLE committed AS SELECT 1 AS one'));
      await server?.restart();
      await server?.kill();
      await expect(connected(url)).rejects.toThrow(/ECONNREFUSED/);
      await server?.start();
      await server?.start();
      const rows = await onPostgres(url, (client) => client.query('SELECT one FROM committed'));
      expect(rows.rowCount).toBe(1);

      await services.redis.server?.kill();
      await services.redis.server?.kill();
      await services.redis.server?.start();
      expect(await onRedis(services.redis.url, (redis) => redis.ping())).toBe('PONG');
    },
    START_TIMEOUT_MS,
  );

  test(
    'started twice at once get ports of their own, whatever servers are given beside SERVICES=embedded',
    async () => {
      const announced: string[] = [];
      const announce = (line: string) => announced.push(line);
      const [one, two] = await Promise.all([
        open({ announce, environment: { ...EMBEDDED, TEST_REDIS_URL: 'redis://127.0.0.1:1' } }),
        open(),
      ]);
      const ports = [services, one, two].flatMap(({ postgres, redis }) => [
        new URL(postgres.url).port,
        new URL(redis.url).port,
      ]);
      expect(new Set(ports).size).toBe(6);
      expect(announced).toContain('Redis: TEST_REDIS_URL is left alone, since SERVICES=embedded');
    },
    START_TIMEOUT_MS,
  );

  test(
    'keep their data where a folder is given',
    async () => {
      const dataDir = join(await temporaryFolder(), 'data');
      const first = await open({ dataDir });
      await onPostgres(first.postgres.url, (client) => client.query('CREATE TABLE kept AS SELECT 1 AS one'));
      await onRedis(first.redis.url, (redis) => redis.set('kept', 'yes'));
      await first.close();
      await first.close();

      const second = await open({ dataDir });
      await onPostgres(second.postgres.url, (client) => client.query('SELECT one FROM kept'));
      expect(await onRedis(second.redis.url, (redis) => redis.get('kept'))).toBe('yes');
    },
    START_TIMEOUT_MS,
  );

  test.runIf(process.getuid?.() === 0)(
    'start where root alone may enter the temporary folder',
    async () => {
      const closed = await temporaryFolder();
      await chmod(closed, 0o700);
      vi.stubEnv('TMPDIR', closed);
      onTestFinished(() => void vi.unstubAllEnvs());
      const guard = openGuard();
      onTestFinished(() => guard.close());
      const postgres = await openEmbeddedPostgres(guard, {
        deadlineMs: Date.now() + WAIT_LIMIT_MS,
        durable: false,
      });
      onTestFinished(() => postgres.close());
      await onPostgres(postgres.service.url, (client) => client.query('SELECT 1'));
    },
    START_TIMEOUT_MS,
  );
});

describe.runIf(process.platform === 'linux' && LOCAL_REDIS !== '')('the end', () => {
  test.each(['close', 'throw', 'SIGKILL'])(
    'by %s leaves no process and no folder',
    async (end) => {
      const { child, folder } = await startHolder('open');
      const servers = serversOf(child);
      child.stdin?.write(`${end}\n`);
      if (end.startsWith('SIG')) child.kill(end as NodeJS.Signals);
      await ended(child);
      await waitUntil(
        async () => stillRunning(servers).length === 0 && (await workFolders(folder)).length === 0,
      );
    },
    START_TIMEOUT_MS,
  );

  test(
    'by SIGKILL in the middle of the start leaves nothing either',
    async () => {
      const { child, folder } = await startHolder('opening');
      const initdb = () => descendantsOf(child.pid ?? 0).some((one) => one.name === 'initdb');
      await waitUntil(async () => initdb());
      const started = descendantsOf(child.pid ?? 0);
      child.kill('SIGKILL');
      await ended(child);
      await waitUntil(
        async () => stillRunning(started).length === 0 && (await workFolders(folder)).length === 0,
      );
    },
    START_TIMEOUT_MS,
  );

  test(
    'by Ctrl-C in a terminal does not take the servers from under a caller who still needs them',
    async () => {
      const { child } = await startHolder('open');
      const servers = serversOf(child);
      child.kill('SIGSTOP'); // the caller is busy
      process.kill(-(child.pid ?? 0), 'SIGINT'); // the whole group, as a terminal does
      expect(stillRunning(servers)).toEqual(servers);
      child.kill('SIGCONT');
      await ended(child);
      await waitUntil(async () => stillRunning(servers).length === 0);
    },
    START_TIMEOUT_MS,
  );
});

describe('fresh databases', () => {
  test('are copies of the migrated template, with its time limits', async () => {
    const url = await freshDatabase();
    const limits = await onPostgres(url, async (client) => {
      await client.query('SELECT id FROM invoices');
      return (await client.query('SHOW statement_timeout')).rows[0]?.statement_timeout;
    });
    expect(limits).toBe('10s');
  });

  test('can be made at the same time, and dropping one twice changes nothing', async () => {
    const url = await freshDatabase({ empty: true });
    const made = await Promise.all([createFreshDatabase(url), createFreshDatabase(url)]);
    expect(made[0]?.name).not.toBe(made[1]?.name);
    for (const database of [...made, ...made]) await database.drop();
    expect(await databaseNames(url)).not.toContain(made[0]?.name);
  });
});

async function open(options: Partial<OpenServicesOptions> = {}): Promise<Services> {
  const services = await openServices({
    announce() {},
    environment: EMBEDDED,
    durable: false,
    ...options,
  });
  onTestFinished(() => services.close());
  return services;
}

/** Another process that holds the services, with a temporary folder of its own. */
async function startHolder(waitFor: 'opening' | 'open'): Promise<{ child: ChildProcess; folder: string }> {
  const script = fileURLToPath(new URL('../support/services-holder.ts', import.meta.url));
  const folder = await temporaryFolder();
  const child = spawn(process.execPath, ['--import', 'tsx', script], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
    env: { ...process.env, TMPDIR: folder },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout });
  await new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => line === waitFor && resolve());
    lines.on('close', () => reject(new Error(`the holder ended before it said "${waitFor}"`)));
  });
  return { child, folder };
}

/** Postgres with its own processes, Redis, and the guard. */
function serversOf(child: ChildProcess): RunningProcess[] {
  const all = descendantsOf(child.pid ?? 0);
  for (const name of ['postgres', basename(LOCAL_REDIS), 'node'])
    expect(all.map((one) => one.name)).toContain(name);
  return all.filter((one) => one.name !== 'esbuild'); // belongs to the loader, and ends with it
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

async function workFolders(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith('billonce-'));
}

/** To be the whole PATH: there is an apt-get in it, and nothing else. */
async function folderWithAptGet(script: string): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'apt-get'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return folder;
}

/** Everybody may enter it, as with /tmp. */
async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'services-test-'));
  await chmod(folder, 0o755);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function waitUntil(holds: () => Promise<boolean>): Promise<void> {
  const deadlineMs = Date.now() + WAIT_LIMIT_MS;
  while (!(await holds())) {
    if (Date.now() > deadlineMs) throw new Error(`not so within ${WAIT_LIMIT_MS} ms: ${holds}`);
    await pause(20);
  }
}

async function databaseNames(url: string): Promise<string[]> {
  const rows = await onPostgres(url, (client) =>
    client.query<{ datname: string }>('SELECT datname FROM pg_database'),
  );
  return rows.rows.map((row) => row.datname);
}

async function onPostgres<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = await connected(url);
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function onRedis<T>(url: string, use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  redis.on('error', () => {});
  try {
    await redis.connect();
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}
