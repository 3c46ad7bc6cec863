import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { RedisMutex } from '../../src/locks/redis-mutex.ts';
import { startRedisServer, type TestRedisServer } from '../support/redis-server.ts';
import { lockConnection, newKey } from './world.ts';

const PROCESSES = 4;
const SECTIONS = 500;

let server: TestRedisServer;

beforeAll(async () => {
  server = await startRedisServer();
});

afterAll(() => server.stop());

test('4 processes run 500 sections each on 3 keys without an overlap', { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'billonce-overlap-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const keys = [newKey(), newKey(), newKey()];

  const contenders = Array.from({ length: PROCESSES }, () =>
    start('contender', [server.url, folder, String(SECTIONS), ...keys]),
  );
  const reports = await Promise.all(contenders.map(outputOf));

  expect(reports.map((report) => JSON.parse(report))).toEqual(
    reports.map(() => ({ done: SECTIONS, overlaps: 0, staleFences: 0 })),
  );
  const redis = await lockConnection(server.url);
  expect(await redis.exists(...keys)).toBe(0);
});

test('a holder frozen for three leases and woken neither extends, nor deletes, nor passes assertHeld', async () => {
  const expireMs = 500;
  const key = newKey();
  const holder = start('holder', [server.url, key, String(expireMs)]);
  await message(holder, 'held');
  const redis = await lockConnection(server.url);
  const mutex = new RedisMutex({ redis, key, expireMs: 60_000 });
  onTestFinished(async () => void (await mutex.unlock()));

  const frozenMs = performance.now();
  holder.kill('SIGSTOP');
  await mutex.lock();
  const value = await redis.get(key);
  await vi.waitUntil(() => performance.now() - frozenMs > 3 * expireMs, { timeout: 10_000 });
  const leftMs = await redis.pttl(key);
  holder.kill('SIGCONT');

  await message(holder, 'aborted');
  holder.send('look');
  expect(await message(holder, 'look')).toMatchObject({ look: 'deadline', aborted: true, remainingMs: 0 });
  holder.send('unlock');
  expect(await message(holder, 'unlock')).toEqual({ unlock: 'stolen' });
  expect(await redis.get(key)).toBe(value);
  expect(await redis.pttl(key)).toBeLessThanOrEqual(leftMs);
  expect(await mutex.unlock()).toBe('released');
});

test('kill -9 of a holder frees the lock within its lease', async () => {
  const expireMs = 600;
  const key = newKey();
  const holder = start('holder', [server.url, key, String(expireMs)]);
  await message(holder, 'held');
  const redis = await lockConnection(server.url);
  const mutex = new RedisMutex({ redis, key });
  expect(await mutex.tryLock()).toBe(false);

  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const killedMs = performance.now();
  await mutex.lock();
  // The lease, and what a busy machine takes to notice.
  expect(performance.now() - killedMs).toBeLessThan(expireMs + 700);
  expect(await mutex.unlock()).toBe('released');
});

test('a process with a forgotten lock and a hung section exits', async () => {
  const key = newKey();
  const forgetful = start('forgetful', [server.url, key]);
  const exited = once(forgetful, 'exit');
  const [output] = await once(forgetful.stdout ?? forgetful, 'data');
  expect(String(output)).toBe('connection closed');
  const closedMs = performance.now();
  expect(await exited).toEqual([0, null]);
  // The watchdog's first beat would come after 3 333 ms.
  expect(performance.now() - closedMs).toBeLessThan(2_500);
  const redis = await lockConnection(server.url);
  expect(await redis.exists(key, `${key}:hung`)).toBe(2);
});

/** A file of `processes/`, run from its TypeScript source, and ended with the test. */
function start(name: string, args: string[]): ChildProcess {
  const child = fork(join(import.meta.dirname, 'processes', `${name}.ts`), args, {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  });
  return child;
}

async function outputOf(child: ChildProcess): Promise<string> {
  let output = '';
  for await (const chunk of child.stdout ?? []) output += chunk;
  return output;
}

/** The next message that has the field, or the end of the test's patience. */
async function message(child: ChildProcess, field: string): Promise<unknown> {
  const deadline = AbortSignal.timeout(10_000);
  for (;;) {
    const [received] = await once(child, 'message', { signal: deadline });
    if (typeof received === 'object' && received !== null && field in received) return received;
  }
}
