/** Servers in containers, through testcontainers, which is loaded only if a container engine answers. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { StartedTestContainer } from 'testcontainers';
import { askPostgres, openRunDatabases } from './databases.ts';
import { pickFreePort } from './free-port.ts';
import { askRedis, freshPrefixBeside, newPrefix } from './redis-client.ts';
import type { Opened, PostgresService, RedisService, ServerControl } from './services.ts';

const ENGINE_LIMIT_MS = 2_000;
const ORDERLY_STOP_SECONDS = 15;

/** Null if an engine answers; otherwise one clause that says where none does. */
export async function whyNoEngine(environment: NodeJS.ProcessEnv): Promise<string | null> {
  const sockets = environment.DOCKER_HOST
    ? [environment.DOCKER_HOST]
    : [
        '/var/run/docker.sock',
        ...(environment.XDG_RUNTIME_DIR ? [join(environment.XDG_RUNTIME_DIR, 'docker.sock')] : []),
        join(homedir(), '.docker', 'run', 'docker.sock'),
        join(homedir(), '.docker', 'desktop', 'docker.sock'),
      ].filter((path) => existsSync(path));
  for (const socket of sockets) {
    if (await answersPing(socket)) return null;
  }
  return `no container engine answers at ${sockets.join(', ') || '/var/run/docker.sock'}`;
}

export async function openPostgresContainer(options: {
  deadlineMs: number;
  /** False: commits do not wait for the disk. */
  durable: boolean;
}): Promise<Opened<PostgresService>> {
  const settings = ['shared_preload_libraries=pg_stat_statements', ...(options.durable ? [] : ['fsync=off'])];
  const password = randomBytes(16).toString('hex');
  const container = await startContainer({
    image: 'postgres:18-alpine',
    environment: { POSTGRES_PASSWORD: password },
    command: ['postgres', ...settings.flatMap((setting) => ['-c', setting])],
    port: 5432,
    answers: (address) => askPostgres(`postgresql://postgres:${password}@${address}/postgres`),
    deadlineMs: options.deadlineMs,
  });
  try {
    const serverUrl = `postgresql://postgres:${password}@${container.address}/postgres`;
    const databases = await openRunDatabases(serverUrl, { name: 'billonce' });
    return {
      service: {
        kind: 'containers',
        url: databases.url,
        server: container.control,
        freshDatabase: databases.freshDatabase,
      },
      description: `${databases.version} at ${container.address}, in a container of postgres:18-alpine`,
      close: container.remove,
    };
  } catch (error) {
    await container.remove();
    throw error;
  }
}

export async function openRedisContainer(deadlineMs: number): Promise<Opened<RedisService>> {
  const password = randomBytes(16).toString('hex');
  let version = '';
  const container = await startContainer({
    image: 'redis:8-alpine',
    environment: {},
    command: [
      'redis-server',
      ...['--requirepass', password, '--maxmemory-policy', 'noeviction', '--appendonly', 'no', '--save', ''],
    ],
    port: 6379,
    answers: async (address) => {
      version = await askRedis(`redis://:${password}@${address}`);
    },
    deadlineMs,
  });
  const prefix = newPrefix();
  return {
    service: {
      kind: 'containers',
      url: `redis://:${password}@${container.address}`,
      prefix,
      freshPrefix: () => freshPrefixBeside(prefix),
      server: container.control,
    },
    description: `${version} at ${container.address}, in a container of redis:8-alpine`,
    close: container.remove,
  };
}

interface ContainerOptions {
  image: string;
  environment: Record<string, string>;
  command: string[];
  /** Inside the container. */
  port: number;
  answers(address: string): Promise<void>;
  deadlineMs: number;
}

interface RunningContainer {
  /** Host and port, the same after a restart. */
  address: string;
  control: ServerControl;
  remove(): Promise<void>;
}

async function startContainer(options: ContainerOptions): Promise<RunningContainer> {
  const { GenericContainer, getContainerRuntimeClient, Wait } = await import('testcontainers');
  const hostPort = await pickFreePort();
  const starting = new GenericContainer(options.image)
    .withEnvironment(options.environment)
    .withCommand(options.command)
    .withExposedPorts({ container: options.port, host: hostPort })
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/i))
    .withStartupTimeout(Math.max(1_000, options.deadlineMs - Date.now()))
    .start();
  const started = await beforeDeadline(starting, options);
  const address = `${started.getHost()}:${hostPort}`;
  const remove = () => removeContainer(started);
  const answered = async (deadlineMs: number) => {
    while (true) {
      try {
        return await options.answers(address);
      } catch (error) {
        if (Date.now() > deadlineMs) throw error;
        await pause(50);
      }
    }
  };
  try {
    await answered(options.deadlineMs);
  } catch (error) {
    await remove();
    throw error;
  }

  const client = await getContainerRuntimeClient();
  const handle = client.container.dockerode.getContainer(started.getId());
  const isRunning = async () => (await handle.inspect()).State.Running;
  const stop = async () => {
    if (await isRunning()) await handle.stop({ t: ORDERLY_STOP_SECONDS });
  };
  const start = async () => {
    if (!(await isRunning())) await handle.start();
    await answered(Date.now() + 30_000);
  };
  return {
    address,
    remove,
    control: {
      stop,
      start,
      async kill() {
        if (await isRunning()) await handle.kill();
      },
      async restart() {
        await stop();
        await start();
      },
    },
  };
}

/** Pulling an image knows no deadline: what comes too late is removed when it comes. */
async function beforeDeadline(
  starting: Promise<StartedTestContainer>,
  { image, deadlineMs }: ContainerOptions,
): Promise<StartedTestContainer> {
  const abandon = new AbortController();
  const tooLate = pause(Math.max(0, deadlineMs - Date.now()), null, { signal: abandon.signal }).catch(
    () => null,
  );
  try {
    const started = await Promise.race([starting, tooLate]);
    if (started) return started;
  } finally {
    abandon.abort();
  }
  starting.then(removeContainer, () => {});
  throw new Error(`a container of ${image} did not start in time`);
}

async function removeContainer(container: StartedTestContainer): Promise<void> {
  await container.stop({ timeout: 0, remove: true, removeVolumes: true });
}

function answersPing(socket: string): Promise<boolean> {
  const url = URL.canParse(socket) ? new URL(socket) : null;
  const target =
    url && url.protocol !== 'unix:'
      ? { host: url.hostname, port: url.port || 2375 }
      : { socketPath: url ? url.pathname : socket };
  return new Promise((resolve) => {
    const asked = request({ ...target, path: '/_ping', timeout: ENGINE_LIMIT_MS }, (response) => {
      response.resume();
      resolve(true); // any answer: one that asks for TLS or a log-in is testcontainers' to talk to
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(false));
    asked.end();
  });
}
