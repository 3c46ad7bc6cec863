import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A Redis of the test's own, which it may flush, pause, kill and restart. Nothing is kept on disk. */
export interface TestRedisServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Stops it and removes its folder. Safe to call twice. */
  stop(): Promise<void>;
  /** Down and up again on the same port, empty. */
  restart(): Promise<void>;
  /** SIGKILL, and waits for the end; `start` brings it back, empty. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** For SIGSTOP and SIGCONT. */
  signal(signal: NodeJS.Signals): void;
}

const READY_WITHIN_MS = 10_000;
/** Between choosing a port and using it, another process may take it. */
const PORT_TRIES = 3;

/** Needs `redis-server` on PATH, or its path in `REDIS_SERVER`. */
export async function startRedisServer(): Promise<TestRedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'billonce-redis-'));
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    try {
      return serverOn(port, folder, await launch(port, folder));
    } catch (error) {
      if (tries < PORT_TRIES && String(error).includes('Address already in use')) continue;
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }
}

/** A port that nobody listens on, on 127.0.0.1. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function serverOn(port: number, folder: string, first: ChildProcess): TestRedisServer {
  let child = first;
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    // A stopped process takes SIGTERM only once it goes on.
    child.kill('SIGCONT');
    await exited;
  };
  const server: TestRedisServer = {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return child.pid ?? -1;
    },
    signal: (signal) => void child.kill(signal),
    kill: () => end('SIGKILL'),
    async start() {
      await end('SIGTERM');
      child = await launch(port, folder);
    },
    async restart() {
      await end('SIGTERM');
      child = await launch(port, folder);
    },
    async stop() {
      await end('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
  };
  return server;
}

async function launch(port: number, folder: string): Promise<ChildProcess> {
  const binary = process.env.REDIS_SERVER ?? 'redis-server';
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--daemonize', 'no'];
  const volatile = ['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'];
  const child = spawn(binary, [...settings, ...volatile], { stdio: ['ignore', 'pipe', 'inherit'] });
  // A test process that dies must not leave a server behind.
  const onExit = () => child.kill('SIGKILL');
  process.once('exit', onExit);
  child.once('exit', () => process.removeListener('exit', onExit));
  await readiness(child, binary);
  return child;
}

async function readiness(child: ChildProcess, binary: string): Promise<void> {
  if (child.stdout === null) throw new Error('redis-server has no output to read');
  const log: string[] = [];
  const lines = createInterface({ input: child.stdout });
  await new Promise<void>((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`${binary} ${why}\n${log.join('\n')}`));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail(`was not ready within ${READY_WITHIN_MS} ms`);
    }, READY_WITHIN_MS);
    lines.on('line', (line) => {
      log.push(line);
      if (log.length > 100) log.shift();
      if (!/ready to accept connections/i.test(line)) return;
      clearTimeout(timer);
      resolve();
    });
    child.once('error', (error) => fail(`cannot be started: ${error.message}`));
    child.once('exit', (code) => {
      clearTimeout(timer);
      fail(`ended with ${code} before it was ready`);
    });
  });
}
