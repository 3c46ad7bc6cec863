/**
 * A small process that outlives this one just long enough to clean up after it. It holds the reading end of a
 * pipe; when the pipe closes, because this process has ended in whatever way, kill -9 included, it ends the
 * processes and then removes the folders that it was told of.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

export interface Guard {
  /** Ends the process with this signal, and by force where that does not help, once this process is gone. */
  watch(pid: number, signal: NodeJS.Signals): void;
  /** The process has ended; its id may belong to somebody else from now on. */
  forget(pid: number): void;
  /** Removes the folder, once this process is gone. */
  removeLater(folder: string): void;
  /** The folder has been removed already. */
  keep(folder: string): void;
  /** Ends the guard without waiting for the end of this process: it does what is still to be done, and leaves. */
  close(): Promise<void>;
}

export function openGuard(): Guard {
  // In a session of its own: Ctrl-C and a kill of the whole group do not reach it.
  const child = spawn(process.execPath, ['--max-old-space-size=32', '-e', GUARD_SCRIPT], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: process.env.PATH },
  });
  const pipe = child.stdin as Socket;
  pipe.on('error', () => {}); // the guard was killed: the last resort below is left
  child.on('error', () => {});
  child.unref();
  pipe.unref();

  const watched = new Map<number, NodeJS.Signals>();
  const onExit = () => {
    for (const [pid, signal] of watched) signalQuietly(pid, signal);
  };
  process.on('exit', onExit);
  const tell = (order: object) => pipe.write(`${JSON.stringify(order)}\n`);

  return {
    watch(pid, signal) {
      watched.set(pid, signal);
      tell({ watch: pid, signal });
    },
    forget(pid) {
      watched.delete(pid);
      tell({ forget: pid });
    },
    removeLater(folder) {
      tell({ remove: folder });
    },
    keep(folder) {
      tell({ keep: folder });
    },
    async close() {
      process.off('exit', onExit);
      await ended(child, pipe);
    },
  };
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone already
  }
}

async function ended(child: ChildProcess, pipe: Socket): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  child.ref();
  await new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    pipe.end();
  });
}

/** Plain JavaScript in a string, so that it runs alike from the sources, from the build and under a test runner. */
const GUARD_SCRIPT = `
'use strict';
const fs = require('node:fs');
const PATIENCE_MS = 10_000;
const watched = new Map();
const folders = new Set();
let rest = '';
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) obey(JSON.parse(line));
});
process.stdin.on('close', cleanUp);

function obey(order) {
  if (order.watch) watched.set(order.watch, order.signal);
  if (order.forget) watched.delete(order.forget);
  if (order.remove) folders.add(order.remove);
  if (order.keep) folders.delete(order.keep);
}

async function cleanUp() {
  for (const [pid, signal] of watched) kill(pid, signal);
  const deadline = Date.now() + PATIENCE_MS;
  while ([...watched.keys()].some(alive) && Date.now() < deadline) await pause(20);
  for (const pid of watched.keys()) if (alive(pid)) kill(pid, 'SIGKILL');
  // A server's own children may still be writing their last files.
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  process.exit(0);
}

function alive(pid) {
  if (!kill(pid, 0)) return false;
  try {
    // Where nobody reaps orphans, a dead one stays as a zombie.
    return !/^State:\\s*Z/m.test(fs.readFileSync('/proc/' + pid + '/status', 'utf8'));
  } catch {
    return process.platform !== 'linux';
  }
}

function kill(pid, signal) {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
`;
