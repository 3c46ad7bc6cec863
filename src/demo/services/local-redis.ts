import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import type { Guard } from './guard.ts';
import { startLocalServer } from './local-server.ts';
import { askRedis, freshPrefixBeside, newPrefix } from './redis-client.ts';
import type { Opened, RedisService } from './services.ts';
import { openWorkFolder, ownedFolder, type WorkFolder } from './work-folder.ts';

export interface LocalRedisOptions {
  deadlineMs: number;
  /** Is kept and used again; a temporary folder, removed at the end, if absent. */
  dataDir?: string | undefined;
  /** Where PROGRAMS are looked for. */
  environment: NodeJS.ProcessEnv;
  announce(line: string): void;
}

const INSTALL_LIMIT_MS = 180_000;
const PROGRAMS = ['redis-server', 'valkey-server'];

/** A server of our own on a private port, from a program on PATH, which may be installed first. */
export async function openLocalRedis(
  guard: Guard,
  options: LocalRedisOptions,
): Promise<Opened<RedisService>> {
  const found = findProgram(options.environment);
  const command = found ?? (await installRedis(options));
  // Installing may take its time; starting may not.
  const deadlineMs = found ? options.deadlineMs : Math.max(options.deadlineMs, Date.now() + 10_000);
  const work = await openWorkFolder(guard);
  try {
    return await open(guard, work, command, { ...options, deadlineMs });
  } catch (error) {
    await work.remove();
    throw error;
  }
}

async function open(
  guard: Guard,
  work: WorkFolder,
  command: string,
  { deadlineMs, dataDir }: LocalRedisOptions,
): Promise<Opened<RedisService>> {
  const parent = dataDir === undefined ? work.path : resolve(dataDir);
  await mkdir(parent, { recursive: true });
  const folder = await ownedFolder(parent, 'redis', null);
  const password = randomBytes(16).toString('hex');
  const configuration = join(work.path, 'redis.conf');
  // A file, and not the command line: that can be read by everybody.
  await writeFile(configuration, settings({ folder, password, kept: dataDir !== undefined }), {
    mode: 0o600,
  });
  const urlFor = (port: number) => `redis://:${password}@127.0.0.1:${port}`;

  let version = '';
  const server = await startLocalServer(
    {
      name: 'Redis',
      command,
      argumentsFor: (port) => [configuration, '--port', String(port)],
      workingFolder: work.path,
      logFile: join(work.path, 'redis.log'),
      environment: { PATH: process.env.PATH, LC_ALL: 'C' },
      stopSignal: 'SIGTERM',
      closeSignal: dataDir === undefined ? 'SIGKILL' : 'SIGTERM',
      answers: async (port) => {
        version = await askRedis(urlFor(port));
      },
      guard,
    },
    deadlineMs,
  );
  const prefix = newPrefix();
  return {
    service: {
      kind: 'embedded',
      url: urlFor(server.port),
      prefix,
      freshPrefix: () => freshPrefixBeside(prefix),
      server,
    },
    description: `${version} at 127.0.0.1:${server.port}, from ${command}`,
    async close() {
      await server.close();
      await work.remove();
    },
  };
}

function findProgram(environment: NodeJS.ProcessEnv): string | null {
  for (const program of PROGRAMS) {
    const path = onPath(program, environment);
    if (path) return path;
  }
  return null;
}

function onPath(program: string, environment: NodeJS.ProcessEnv): string | null {
  for (const folder of (environment.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, program);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // not here
    }
  }
  return null;
}

/** @throws Error with one sentence if it may not or cannot be installed */
async function installRedis({ environment, announce }: LocalRedisOptions): Promise<string> {
  const aptGet = onPath('apt-get', environment);
  if (process.getuid?.() !== 0 || !aptGet || !existsSync('/etc/debian_version')) {
    throw new Error('neither redis-server nor valkey-server is on PATH');
  }
  announce(
    'Redis: not on this machine; installing it with apt-get update && apt-get install -y redis-server',
  );
  const deadlineMs = Date.now() + INSTALL_LIMIT_MS;
  // A failed update may still leave a usable list: the installation decides.
  await apt(aptGet, ['update'], environment, deadlineMs);
  // Somebody else may be installing at the same moment.
  const wait = ['-o', 'DPkg::Lock::Timeout=120'];
  const said = await apt(aptGet, [...wait, 'install', '-y', 'redis-server'], environment, deadlineMs);
  const command = findProgram(environment);
  if (!command)
    throw new Error(`apt-get could not install redis-server: ${said.trim().split('\n').slice(-2).join(' ')}`);
  return command;
}

function apt(
  command: string,
  words: string[],
  environment: NodeJS.ProcessEnv,
  deadlineMs: number,
): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(command, words, {
      env: { ...environment, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: Math.max(1_000, deadlineMs - Date.now()),
    });
    let said = '';
    const listen = (chunk: Buffer) => {
      said = (said + chunk).slice(-4_000);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.on('error', (error) => resolve(String(error)));
    child.on('close', () => resolve(said));
  });
}

function settings({ folder, password, kept }: { folder: string; password: string; kept: boolean }): string {
  return `
bind 127.0.0.1
requirepass ${password}
dir ${JSON.stringify(folder)}
daemonize no
save ""
appendonly ${kept ? 'yes' : 'no'}
maxmemory-policy noeviction
`;
}
