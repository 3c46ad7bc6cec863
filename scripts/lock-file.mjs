/**
 * A lock among processes that share a folder: a file that names its holder, so that one that was left behind by a
 * killed process is recognized and taken over.
 */
import {
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

const HEARTBEAT_MS = 5_000;
/** After so long without a heartbeat, the holder's process id belongs to somebody else by now. */
const SILENCE_MAX_MS = 60_000;
/** For a child that goes on working though the holder was killed: it beats no more. */
const ORPHAN_MAX_MS = 15 * 60_000;
/** Between making the file and filling it. */
const WRITING_MAX_MS = 5_000;
const POLL_MS = 100;
const TAKEOVER_MAX_MS = 10_000;

/**
 * Waits until nobody else holds it. `onWait(pid)` is called once, if there is somebody to wait for.
 * Resolves to `{ workingChild(pid | null), release() }`; rejects after `waitMaxMs`.
 */
export async function takeLock(file, { waitMaxMs, onWait }) {
  const deadlineMs = Date.now() + waitMaxMs;
  let announced = false;
  while (!create(file, { pid: process.pid, child: null, host: hostname() })) {
    const holder = read(file);
    if (!isHeld(file, holder)) takeOver(file);
    else {
      if (holder && !announced) onWait(holder.pid);
      announced ||= holder !== null;
      if (Date.now() > deadlineMs) throw new Error(`process ${holder?.pid} has held ${file} for too long`);
      await pause(POLL_MS);
    }
  }
  const heartbeat = setInterval(() => touch(file), HEARTBEAT_MS);
  heartbeat.unref();
  return {
    /** While it works, nobody takes the lock, even if this process is killed. */
    workingChild(child) {
      replace(file, { pid: process.pid, child, host: hostname() });
    },
    release() {
      clearInterval(heartbeat);
      if (read(file)?.pid === process.pid) rmSync(file, { force: true });
    },
  };
}

function create(file, holder) {
  try {
    writeFileSync(file, JSON.stringify(holder), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function replace(file, holder) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(holder));
  renameSync(draft, file);
}

/** Null: released meanwhile, or not written to its end. */
function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

function isHeld(file, holder) {
  const silentMs = ageMs(file);
  if (!holder) return silentMs < WRITING_MAX_MS;
  if (holder.host !== hostname()) return silentMs < SILENCE_MAX_MS;
  if (isRunning(holder.pid) && silentMs < SILENCE_MAX_MS) return true;
  return holder.child !== null && isRunning(holder.child) && silentMs < ORPHAN_MAX_MS;
}

/** One at a time, and only after another look: two that found the same dead holder must not remove each other. */
function takeOver(file) {
  const turn = `${file}.takeover`;
  try {
    mkdirSync(turn);
  } catch {
    if (ageMs(turn) > TAKEOVER_MAX_MS) rmdirQuietly(turn);
    return;
  }
  const holder = read(file);
  if (!isHeld(file, holder)) rmSync(file, { force: true });
  rmdirQuietly(turn);
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
  try {
    // Killed, but not yet counted by its parent.
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return true;
  }
}

function ageMs(path) {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

function touch(file) {
  try {
    utimesSync(file, new Date(), new Date());
  } catch {
    // the whole folder was removed: there is nothing left to hold
  }
}

function rmdirQuietly(folder) {
  try {
    rmdirSync(folder);
  } catch {
    // somebody was quicker
  }
}
