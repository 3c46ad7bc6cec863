import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Held } from '../../src/locks/held.ts';
import type { RedisMutexOptions } from '../../src/locks/options.ts';
import { openRedisLockConnection } from '../../src/locks/redis-lock-connection.ts';
import { RedisMutex } from '../../src/locks/redis-mutex.ts';
import { startRedisServer, type TestRedisServer } from '../support/redis-server.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { commandsDuring, keptLog, lockConnection, newKey, plainConnection, quiet } from './world.ts';

const COMMAND_TIMEOUT_MS = 300;

let server: TestRedisServer;

beforeAll(async () => {
  server = await startRedisServer();
});

afterAll(() => server.stop());

describe('a lost reply', () => {
  test('to acquire does not lock its owner out', async () => {
    const { proxy, mutex, direct, key } = await behindProxy();
    proxy.cutAtNextReply();
    expect(await mutex.tryLock()).toBe(true);
    expect(await direct.exists(key)).toBe(1);
    mutex.assertHeld();
    expect(await mutex.unlock()).toBe('released');
    expect(await direct.exists(key)).toBe(0);
  });

  test('to acquire does not lock the owner out of a client that sends again by itself', async () => {
    const { proxy, key } = await behindProxy();
    const url = `redis://127.0.0.1:${proxy.port}`;
    const redis = await plainConnection(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1 });
    const mutex = new RedisMutex({ redis, key });
    proxy.cutAtNextReply();
    expect(await mutex.tryLock()).toBe(true);
    expect(await mutex.unlock()).toBe('released');
  });

  test('to every acquire fails the caller, and leaves nothing locked', async () => {
    const { proxy, mutex, other, direct, key } = await behindProxy();
    proxy.loseReplies();
    await expect(mutex.tryLock()).rejects.toThrow('timed out');
    // Waits for what the failed attempt still had under way.
    expect(await mutex.unlock()).toBe('not-held');
    expect(await direct.exists(key)).toBe(0);
    proxy.heal();
    await other.lock({ timeoutMs: 5_000 });
    expect(await other.unlock()).toBe('released');
  });

  test('to a renewal is made up for by the next one', async () => {
    const { proxy, mutex, key, direct } = await behindProxy({ expireMs: 1_500 });
    const held = await mutex.acquire();
    proxy.cutAtNextReply();
    await vi.waitUntil(async () => (await direct.pttl(key)) < 1_050, { timeout: 2_000, interval: 5 });
    await vi.waitUntil(async () => (await direct.pttl(key)) > 1_050, { timeout: 2_000, interval: 5 });
    await delay(1_500);
    held.assertHeld();
    expect(await mutex.unlock()).toBe('released');
  });

  test('to release counts neither as stolen nor as lost', async () => {
    const { proxy, mutex, key, direct } = await behindProxy();
    const value = mutex.synchronize(() => {
      proxy.cutAtNextReply();
      return 'kept';
    });
    expect(await value).toBe('kept');
    expect(await direct.exists(key)).toBe(0);
  });
});

describe('a network that swallows everything', () => {
  test('aborts the section at the local deadline, without the help of Redis', async () => {
    const expireMs = 600;
    const log = keptLog();
    const { proxy, mutex } = await behindProxy({ expireMs, logger: log });
    let abortedAfterMs = 0;
    const section = mutex.synchronize(async (held) => {
      proxy.blackhole();
      const startedMs = performance.now();
      await aborted(held);
      abortedAfterMs = performance.now() - startedMs;
      expect(() => held.assertHeld()).toThrow('not renewed in time');
    });
    await expect(section).rejects.toMatchObject({ reason: 'deadline' });
    expect(abortedAfterMs).toBeGreaterThan(expireMs / 2);
    expect(abortedAfterMs).toBeLessThan(expireMs + 300);
    expect(log.messages).toContain('lock lost');
  });

  test('ends an attempt in bounded time, and its connection is replaced', async () => {
    const { proxy, mutex, redis } = await behindProxy();
    const replaced = new Promise((resolve) => redis.once('close', resolve));
    proxy.blackhole();
    const startedMs = performance.now();
    await expect(mutex.tryLock()).rejects.toThrow();
    expect(performance.now() - startedMs).toBeLessThan(2 * COMMAND_TIMEOUT_MS + 1_000);
    await replaced;
    proxy.heal();
    await vi.waitFor(async () => expect(await mutex.tryLock()).toBe(true), { timeout: 5_000 });
    expect(await mutex.unlock()).toBe('released');
  });

  test('gives a waiter up after one lease', async () => {
    const { proxy, mutex } = await behindProxy({ expireMs: 500 });
    proxy.cut();
    proxy.refuse();
    const startedMs = performance.now();
    await expect(mutex.lock()).rejects.toThrow();
    expect(performance.now() - startedMs).toBeGreaterThan(450);
    expect(performance.now() - startedMs).toBeLessThan(2_500);
  });
});

describe('Redis in trouble', () => {
  test('SCRIPT FLUSH between acquire and release goes unnoticed', async () => {
    const { redis, mutex } = await world({ expireMs: 300 });
    await mutex.synchronize(async (held) => {
      await redis.script('FLUSH');
      await delay(600);
      held.assertHeld();
      await redis.script('FLUSH');
    });
    expect(await mutex.isLocked()).toBe(false);
    await redis.script('FLUSH');
    expect(await mutex.tryLock()).toBe(true);
  });

  test('a CLIENT PAUSE shorter than the lease is ridden out', async () => {
    const { mutex, direct } = await world({ expireMs: 1_500 });
    await mutex.synchronize(async (held) => {
      await direct.client('PAUSE', 700, 'ALL');
      await delay(1_600);
      held.assertHeld();
    });
  });

  test('a CLIENT PAUSE longer than the lease ends the section before it ends', async () => {
    const { mutex, direct } = await world({ expireMs: 600 });
    const section = mutex.synchronize(async (held) => {
      const pausedMs = performance.now();
      await direct.client('PAUSE', 1_500, 'ALL');
      await aborted(held);
      expect(performance.now() - pausedMs).toBeLessThan(1_300);
    });
    await expect(section).rejects.toMatchObject({ reason: 'deadline' });
    // The late renewals found nothing to renew.
    await vi.waitFor(async () => expect(await mutex.isLocked()).toBe(false), { timeout: 5_000 });
  });

  test('a restart between acquire and release loses the lock, and says so', async () => {
    const { mutex } = await world({ expireMs: 3_000 });
    const section = mutex.synchronize(async (held) => {
      await server.restart();
      await aborted(held);
    });
    await expect(section).rejects.toMatchObject({ reason: 'expired' });
    await vi.waitFor(async () => expect(await mutex.tryLock()).toBe(true), { timeout: 5_000 });
    expect(await mutex.unlock()).toBe('released');
  });

  test('a restart is told by the release where no renewal came before', async () => {
    const { mutex, redis } = await world();
    await mutex.lock();
    await server.restart();
    await vi.waitUntil(() => redis.status === 'ready', { timeout: 5_000 });
    expect(await mutex.unlock()).toBe('expired');
  });

  test('a waiter outlives a restart', async () => {
    const { mutex, other } = await world({ expireMs: 1_500 });
    await mutex.lock();
    const waiting = other.lock({ timeoutMs: 8_000 });
    await server.restart();
    await waiting;
    expect(await mutex.unlock()).toBe('stolen');
    expect(await other.unlock()).toBe('released');
  });

  test('a connection that cannot be opened says where it was looked for, and no password', async () => {
    const options = { url: 'redis://:secret@127.0.0.1:1/0', logger: quiet, connectTimeoutMs: 500 };
    const error = await openRedisLockConnection(options).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(String(error)).toContain('127.0.0.1:1/0');
    expect(String(error)).not.toContain('secret');
  });
});

describe('a section that runs too long', () => {
  test('is ended at maxHoldMs, and its lock is free', async () => {
    const { mutex, other } = await world({ expireMs: 300, maxHoldMs: 500 });
    const startedMs = performance.now();
    const hung = mutex.synchronize(() => new Promise(() => {}));
    await expect(hung).rejects.toMatchObject({ name: 'LockLostError', reason: 'max-hold' });
    expect(performance.now() - startedMs).toBeGreaterThan(750);
    expect(performance.now() - startedMs).toBeLessThan(1_500);
    expect(await other.tryLock()).toBe(true);
  });

  test('is not renewed any more after maxHoldMs', async () => {
    const { mutex } = await world({ expireMs: 300, maxHoldMs: 450 });
    await mutex.lock();
    await delay(700);
    // It was renewed every 100 ms; from now on there must be silence.
    const commands = await commandsDuring(server.url, () => delay(700));
    expect(commands.filter((name) => name.startsWith('eval'))).toEqual([]);
    expect(() => mutex.assertHeld()).toThrow('maxHoldMs');
    expect(mutex.signal.reason).toMatchObject({ reason: 'max-hold' });
  });

  test('is renewed up to then, far beyond one lease', async () => {
    const { mutex, other } = await world({ expireMs: 300 });
    await mutex.synchronize(async (held) => {
      for (let n = 0; n < 10; n += 1) {
        await delay(100);
        held.assertHeld();
        expect(await other.tryLock()).toBe(false);
      }
    });
  });
});

async function world(options: Partial<RedisMutexOptions> = {}) {
  return await contendersOn(await lockConnection(server.url, { commandTimeoutMs: 1_000 }), options);
}

async function behindProxy(options: Partial<RedisMutexOptions> = {}) {
  const proxy: TcpProxy = await startTcpProxy({ port: server.port });
  onTestFinished(() => proxy.stop());
  const url = `redis://127.0.0.1:${proxy.port}`;
  const redis = await lockConnection(url, { commandTimeoutMs: COMMAND_TIMEOUT_MS });
  return { proxy, ...(await contendersOn(redis, options)) };
}

/** `direct` sees the server as it is. */
async function contendersOn(redis: Redis, options: Partial<RedisMutexOptions>) {
  const key = newKey();
  const mutex = new RedisMutex({ redis, key, ...options });
  const other = new RedisMutex({ redis, key, ...options });
  const direct = await plainConnection(server.url);
  onTestFinished(async () => void (await Promise.all([mutex.unlock(), other.unlock()])));
  return { redis, key, mutex, other, direct };
}

async function aborted({ signal }: Held): Promise<void> {
  await vi.waitUntil(() => signal.aborted, { timeout: 10_000, interval: 5 });
}
