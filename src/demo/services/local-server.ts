/** A server that runs as a child of this process: started on a free port, waited for, stopped, started again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { pickFreePort } from './free-port.ts';
import type { Guard } from './guard.ts';
import type { ServerControl } from './services.ts';

export interface LocalServerOptions {
  /** As people read it: `Postgres`, `Redis`. */
  name: string;
  command: string;
  argumentsFor(port: number): string[];
  workingFolder: string;
  /** Standard output and error go here: a file stays writable when this process is gone, a pipe does not. */
  logFile: string;
  environment: NodeJS.ProcessEnv;
  /** Whose rights it runs with; this process' own if absent. */
  user?: { uid: number; gid: number };
  /** Asks for an orderly end that keeps what was written. */
  stopSignal: NodeJS.Signals;
  /** Ends it at the end of the run, as quickly as what is kept allows. */
  closeSignal: NodeJS.Signals;
  /** Resolves if the server on this port answers, and is this one. */
  answers(port: number): Promise<void>;
  guard: Guard;
}

export interface LocalServer extends ServerControl {
  readonly port: number;
  /** The end of the run. */
  close(): Promise<void>;
}

const PORT_TRIES_MAX = 5;
const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 20_000;

/** @throws Error with one sentence and the end of the server's own log */
export async function startLocalServer(
  options: LocalServerOptions,
  deadlineMs: number,
): Promise<LocalServer> {
  let child: ChildProcess | null = null;
  let port = 0;
  for (let tries = 1; ; tries += 1) {
    port = await pickFreePort();
    try {
      child = await launch(options, port, deadlineMs);
      break;
    } catch (error) {
      const takenMeanwhile = error instanceof Error && /address (already )?in use/i.test(error.message);
      if (!takenMeanwhile || tries === PORT_TRIES_MAX) throw error;
    }
  }

  const end = async (signal: NodeJS.Signals) => {
    if (!child) return;
    await endProcess(child, signal, options.guard);
    child = null;
  };
  const start = async () => {
    child ??= await launchAgain(options, port);
  };
  return {
    port,
    stop: () => end(options.stopSignal),
    kill: () => end('SIGKILL'),
    close: () => end(options.closeSignal),
    start,
    async restart() {
      await end(options.stopSignal);
      await start();
    },
  };
}

/** After a kill -9 the server's own children may still hold its folder or its memory for a moment. */
async function launchAgain(options: LocalServerOptions, port: number): Promise<ChildProcess> {
  const deadlineMs = Date.now() + START_LIMIT_MS;
  for (;;) {
    try {
      return await launch(options, port, deadlineMs);
    } catch (error) {
      if (Date.now() + 200 > deadlineMs) throw error;
      await pause(200);
    }
  }
}

async function launch(options: LocalServerOptions, port: number, deadlineMs: number): Promise<ChildProcess> {
  const log = openSync(options.logFile, 'w');
  // In a session of its own: Ctrl-C reaches our caller only, who may still need the server in order to finish.
  const child = spawn(options.command, options.argumentsFor(port), {
    cwd: options.workingFolder,
    env: options.environment,
    detached: true,
    stdio: ['ignore', log, log],
    ...options.user,
  });
  closeSync(log);
  let failure: Error | null = null;
  child.on('error', (error) => {
    failure = error;
  });
  const { pid } = child;
  if (pid !== undefined) {
    options.guard.watch(pid, options.closeSignal);
    child.once('exit', () => options.guard.forget(pid));
    child.unref();
  }

  for (;;) {
    try {
      await options.answers(port);
      if (isRunning(child)) return child;
    } catch {
      // not yet
    }
    if (!isRunning(child)) {
      throw new Error(`${options.name} ended at once: ${failure ?? lastLines(options.logFile)}`);
    }
    if (Date.now() > deadlineMs) {
      await endProcess(child, 'SIGKILL', options.guard);
      throw new Error(`${options.name} did not answer in time: ${lastLines(options.logFile)}`);
    }
    await pause(30);
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

async function endProcess(child: ChildProcess, signal: NodeJS.Signals, guard: Guard): Promise<void> {
  if (!isRunning(child)) return;
  child.ref();
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(signal);
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  await gone;
  clearTimeout(force);
  if (child.pid !== undefined) guard.forget(child.pid);
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trim().split('\n').slice(-4).join(' | ') || 'it wrote nothing';
}
