/** The real processes of the application, as production runs them, for the demo and for tests that kill them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Guard } from './services/guard.ts';

const START_LIMIT_MS = 40_000;
const STOP_LIMIT_MS = 45_000;

export interface Application {
  name: string;
  pid: number;
  /** The first line of standard output that `pick` accepts. */
  firstLine<T>(pick: (line: string) => T | undefined): Promise<T>;
  onLine(listener: (line: string) => void): void;
  exitCode(): Promise<number | null>;
  /** SIGTERM, then by force. Run twice: nothing happens. */
  stop(): Promise<void>;
}

export interface ApplicationOptions {
  name: string;
  /** Below `dist/`: `workers/main.js`, say. */
  script: string;
  env: Record<string, string>;
  logFolder: string;
  guard: Guard;
}

/** Starts `node dist/<script>` with this environment alone; its output goes to `<logFolder>/<name>.log`. */
export function startApplication(options: ApplicationOptions): Application {
  const child = spawn(process.execPath, ['--enable-source-maps', join(distFolder(), options.script)], {
    env: { PATH: process.env.PATH ?? '', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // Ctrl-C reaches the demo alone, which ends its processes in order
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${options.name} could not be started`);
  options.guard.watch(pid, 'SIGTERM');
  const exited = once(child, 'exit').then(([code]) => {
    options.guard.forget(pid);
    return code as number | null;
  });

  const log = createWriteStream(join(options.logFolder, `${options.name}.log`));
  child.stderr.pipe(log, { end: false });
  const listeners: ((line: string) => void)[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    log.write(`${line}\n`);
    for (const listener of listeners) listener(line);
  });

  return {
    name: options.name,
    pid,
    onLine: (listener) => void listeners.push(listener),
    firstLine: (pick) => firstLine(options, listeners, exited, pick),
    exitCode: () => exited,
    stop: () => stop(child, exited),
  };
}

/** An API key as `API_KEYS` wants it, and the key itself for whoever calls. */
export function makeApiKey(name: string): { key: string; entry: string } {
  const key = `bo_${randomBytes(24).toString('base64url')}`;
  return { key, entry: `${name}:${createHash('sha256').update(key).digest('hex')}:admin` };
}

async function firstLine<T>(
  options: ApplicationOptions,
  listeners: ((line: string) => void)[],
  exited: Promise<number | null>,
  pick: (line: string) => T | undefined,
): Promise<T> {
  const found = new Promise<T>((resolve) => {
    listeners.push((line) => {
      const value = pick(line);
      if (value !== undefined) resolve(value);
    });
  });
  const timer = new AbortController();
  const failed = Promise.race([
    exited.then((code) => `ended at once with exit code ${code}`),
    sleep(START_LIMIT_MS, `was not ready within ${START_LIMIT_MS / 1000} s`, { signal: timer.signal }),
  ]).then((why) => {
    throw new Error(`${options.name} ${why}; see ${join(options.logFolder, `${options.name}.log`)}`);
  });
  try {
    return await Promise.race([found, failed]);
  } finally {
    failed.catch(() => undefined);
    timer.abort();
  }
}

async function stop(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  await exited;
  clearTimeout(force);
}

/** `dist/`, whether this file runs from it or, under a test runner, from the sources. */
function distFolder(): string {
  const here = fileURLToPath(new URL('.', import.meta.url));
  const root = here.includes(`${join('dist', 'src', 'demo')}`)
    ? join(here, '..', '..', '..')
    : join(here, '..', '..');
  return join(root, 'dist');
}
