import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, chown, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { askPostgres, openRunDatabases } from './databases.ts';
import type { Guard } from './guard.ts';
import { startLocalServer } from './local-server.ts';
import { locateBinaries, type SystemUser, unprivilegedUser } from './native-postgres.ts';
import type { Opened, PostgresService } from './services.ts';
import { keptFolder, openWorkFolder, ownedFolder, type WorkFolder } from './work-folder.ts';

const run = promisify(execFile);
const INIT_LIMIT_MS = 30_000;

/** What the server is told beyond its defaults. In a file, so that ALTER SYSTEM wins. */
const SETTINGS = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 100
shared_preload_libraries = 'pg_stat_statements'
timezone = 'UTC'
log_timezone = 'UTC'
`;

export interface EmbeddedPostgresOptions {
  deadlineMs: number;
  /** Is kept and used again; a temporary folder, removed at the end, if absent. */
  dataDir?: string | undefined;
  /** False: commits do not wait for the disk. */
  durable: boolean;
}

/** A server of our own on a private port, from the binaries that come from npm. */
export async function openEmbeddedPostgres(
  guard: Guard,
  options: EmbeddedPostgresOptions,
): Promise<Opened<PostgresService>> {
  const user = unprivilegedUser();
  const work = await openWorkFolder(guard);
  try {
    return await open(guard, work, user, options);
  } catch (error) {
    await work.remove();
    throw error;
  }
}

async function open(
  guard: Guard,
  work: WorkFolder,
  user: SystemUser | null,
  { deadlineMs, dataDir, durable }: EmbeddedPostgresOptions,
): Promise<Opened<PostgresService>> {
  const binaries = await locateBinaries(join(work.path, 'native'), user);
  const parent = dataDir === undefined ? work.path : await keptFolder(dataDir, user);
  const cluster = await ownedFolder(parent, 'postgres', user);
  const environment = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
  const password = await initialize({
    guard,
    binaries,
    cluster,
    work,
    user,
    environment,
    kept: dataDir !== undefined,
  });
  const urlFor = (port: number) => `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`;

  const server = await startLocalServer(
    {
      name: 'Postgres',
      command: join(binaries, 'bin', 'postgres'),
      argumentsFor: (port) => ['-D', cluster, '-p', String(port), ...(durable ? [] : ['-c', 'fsync=off'])],
      workingFolder: cluster,
      logFile: join(work.path, 'postgres.log'),
      environment,
      ...(user && { user }),
      stopSignal: 'SIGINT', // "fast": ends the sessions, writes a checkpoint
      closeSignal: dataDir === undefined ? 'SIGQUIT' : 'SIGINT', // "immediate": what is thrown away needs no checkpoint
      answers: (port) => askPostgres(urlFor(port)),
      guard,
    },
    deadlineMs,
  );
  try {
    const databases = await openRunDatabases(urlFor(server.port), { name: 'billonce' });
    return {
      service: { kind: 'embedded', url: databases.url, server, freshDatabase: databases.freshDatabase },
      description: `${databases.version} at 127.0.0.1:${server.port}, data in ${cluster}`,
      async close() {
        if (dataDir !== undefined) await databases.dropAll({ keepOwn: true }).catch(() => {}); // stopped meanwhile
        await server.close();
        await work.remove();
      },
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}

interface Cluster {
  guard: Guard;
  binaries: string;
  cluster: string;
  work: WorkFolder;
  user: SystemUser | null;
  environment: NodeJS.ProcessEnv;
  kept: boolean;
}

/** Makes the cluster unless it is there. Resolves to its password. */
async function initialize({
  guard,
  binaries,
  cluster,
  work,
  user,
  environment,
  kept,
}: Cluster): Promise<string> {
  const keptPassword = join(cluster, 'billonce-password');
  if (existsSync(keptPassword)) return (await readFile(keptPassword, 'utf8')).trim();

  const password = randomBytes(16).toString('hex');
  const passwordFile = join(work.path, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (user) await chown(passwordFile, user.uid, user.gid);
  const choices = [
    '--username=postgres',
    '--encoding=UTF8',
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
  ];
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const sync = kept ? [] : ['--no-sync']; // of the empty cluster only: the server itself syncs
  const running = run(join(binaries, 'bin', 'initdb'), ['-D', cluster, ...choices, ...locale, ...sync], {
    cwd: work.path,
    env: environment,
    timeout: INIT_LIMIT_MS,
    ...user,
  });
  const { pid } = running.child;
  if (pid !== undefined) guard.watch(pid, 'SIGKILL');
  try {
    await running;
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim().split('\n').slice(-3).join(' ');
    throw new Error(`initdb failed: ${said || error}`);
  } finally {
    if (pid !== undefined) guard.forget(pid);
  }
  await rm(passwordFile);
  await appendFile(join(cluster, 'postgresql.conf'), SETTINGS);
  await writeFile(keptPassword, password, { mode: 0o600 });
  return password;
}
