import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { BillingError } from '../../src/errors.ts';
import { LockBusyError, LockInUseError, LockLostError, LockTimeoutError } from '../../src/locks/errors.ts';
import { RELEASES_CHANNEL } from '../../src/locks/lock-scripts.ts';
import { parseLockValue } from '../../src/locks/lock-value.ts';
import type { RedisMutexOptions } from '../../src/locks/options.ts';
import { RedisMutex } from '../../src/locks/redis-mutex.ts';
import { WaitingLine } from '../../src/locks/waiting-line.ts';
import type { HeldLock } from '../../src/operations/ports.ts';
import { startRedisServer, type TestRedisServer } from '../support/redis-server.ts';
import { commandsDuring, countTimers, lockConnection, newKey, plainConnection } from './world.ts';

let server: TestRedisServer;

beforeAll(async () => {
  server = await startRedisServer();
});

afterAll(() => server.stop());

describe('lock and unlock', () => {
  test('locks, and gives the key back', async () => {
    const { redis, key, mutex } = await world();
    await mutex.lock();
    expect(await mutex.isLocked()).toBe(true);
    expect(await mutex.isSelfLocked()).toBe(true);
    expect(await mutex.unlock()).toBe('released');
    expect(await redis.exists(key)).toBe(0);
    expect(await mutex.isLocked()).toBe(false);
    expect(await mutex.isSelfLocked()).toBe(false);
  });

  test('cost one command each', async () => {
    const { mutex } = await world();
    await mutex.lock();
    await mutex.unlock();
    const commands = await commandsDuring(server.url, async () => {
      await mutex.lock();
      await mutex.unlock();
    });
    expect(commands).toEqual(['evalsha', 'evalsha']);
  });

  test('tryLock says whether it got the lock, and never waits', async () => {
    const { mutex, other } = await world();
    expect(await mutex.tryLock()).toBe(true);
    expect(await other.tryLock()).toBe(false);
    expect(await other.isLocked()).toBe(true);
    expect(await other.isSelfLocked()).toBe(false);
    expect(await other.unlock()).toBe('not-held');
    await mutex.unlock();
    expect(await other.tryLock()).toBe(true);
  });

  test('unlock says that the key has expired or belongs to another', async () => {
    const { redis, key, mutex, other } = await world();
    await mutex.lock();
    await redis.del(key);
    expect(await mutex.unlock()).toBe('expired');

    await mutex.lock();
    await redis.del(key);
    await other.lock();
    expect(await mutex.unlock()).toBe('stolen');
    expect(await other.isSelfLocked()).toBe(true);
    expect(await mutex.unlock()).toBe('not-held');
  });

  test('one instance has one acquisition at a time', async () => {
    const { mutex } = await world();
    const first = mutex.lock();
    await expect(mutex.lock()).rejects.toThrow(LockInUseError);
    await first;
    await expect(mutex.lock()).rejects.toThrow(LockInUseError);
    expect(await mutex.tryLock()).toBe(false);
    await mutex.unlock();
    await mutex.lock();
  });

  test('fences grow from one acquisition to the next', async () => {
    const { mutex, other } = await world();
    const fences: number[] = [];
    for (let n = 0; n < 50; n += 1) {
      for (const contender of [mutex, other]) {
        await contender.synchronize(({ fence }) => fences.push(fence));
      }
    }
    expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
  });

  test('the value names the holder and carries the fence', async () => {
    const { redis, key } = await world();
    const mutex = new RedisMutex({ redis, key, owner: 'finalize-invoice/42' });
    await using held = await mutex.acquire();
    const value = parseLockValue((await redis.get(key)) ?? '');
    expect(value?.fence).toBe(held.fence);
    expect(value?.owner).toMatch(new RegExp(`:${process.pid} finalize-invoice/42$`));
  });

  test('a client that prefixes its keys works like any other', async () => {
    const redis = await plainConnection(server.url, { enableOfflineQueue: false, keyPrefix: '{p}:' });
    const key = newKey();
    const mutex = new RedisMutex({ redis, key });
    const other = new RedisMutex({ redis, key });
    await mutex.lock();
    const waiting = other.lock();
    await delay(50);
    await mutex.unlock();
    await waiting;
    expect(await other.unlock()).toBe('released');
  });

  test('fits the port of the operations', async () => {
    const { mutex } = await world();
    const lock: HeldLock = mutex;
    expect(lock.signal.aborted).toBe(true);
    expect(() => lock.assertHeld()).toThrow(LockLostError);
    await mutex.withLock((held: HeldLock) => {
      held.assertHeld();
      expect(held.signal.aborted).toBe(false);
      lock.assertHeld();
      expect(lock.signal.aborted).toBe(false);
    });
    expect(() => lock.assertHeld()).toThrow(LockLostError);
  });
});

describe('synchronize and withLock', () => {
  test('answer with what the section answered, and release', async () => {
    const { mutex } = await world();
    expect(await mutex.synchronize(async () => 'done')).toBe('done');
    expect(await mutex.withLock(() => 42)).toBe(42);
    expect(await mutex.isLocked()).toBe(false);
  });

  test('a section that throws releases too', async () => {
    const { mutex } = await world();
    const failing = mutex.synchronize(() => {
      throw new Error('section');
    });
    await expect(failing).rejects.toThrow('section');
    expect(await mutex.isLocked()).toBe(false);
  });

  test('a busy lock says its key, what remains and who has it', async () => {
    const { mutex, other, key } = await world({ expireMs: 8_000 });
    await mutex.lock();
    const error = await other.withLock(() => 'never').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LockBusyError);
    if (!(error instanceof LockBusyError)) return;
    expect(error).toMatchObject({ name: 'LockBusyError', code: 'lock_busy', key });
    expect(error.remainingMs).toBeGreaterThan(7_000);
    expect(error.remainingMs).toBeLessThanOrEqual(8_000);
    expect(error.heldBy).toContain(`:${process.pid}`);
    expect(error.message).toContain(`expires in ${error.remainingMs} ms`);
  });

  test('a key of somebody else, without an expiry, is busy and stays as it was', async () => {
    const { redis, key, mutex } = await world();
    await redis.set(key, '-mine');
    await expect(mutex.withLock(() => 'never')).rejects.toMatchObject({ remainingMs: null, heldBy: null });
    await expect(mutex.lock({ timeoutMs: 30 })).rejects.toThrow(LockTimeoutError);
    expect(await redis.get(key)).toBe('-mine');
  });

  test('a key of another type is an error at once', async () => {
    const { redis, key, mutex } = await world();
    await redis.lpush(key, 'x');
    await expect(mutex.lock()).rejects.toThrow('WRONGTYPE');
  });

  test('reject when the key was lost though the section resolved', async () => {
    const { redis, key, mutex, other } = await world();
    const gone = mutex.synchronize(() => redis.del(key));
    await expect(gone).rejects.toMatchObject({ name: 'LockLostError', code: 'lock_lost', reason: 'expired' });
    const stolen = mutex.synchronize(async () => {
      await redis.del(key);
      await other.lock();
    });
    await expect(stolen).rejects.toMatchObject({ reason: 'stolen' });
  });

  test('a section may unlock before its end', async () => {
    const { mutex } = await world();
    expect(
      await mutex.synchronize(async (held) => {
        await mutex.unlock();
        expect(() => held.assertHeld()).toThrow(LockLostError);
        return 'early';
      }),
    ).toBe('early');
  });

  test('held leaves scope, and so does the lock, but never a later one', async () => {
    const { mutex } = await world();
    {
      await using held = await mutex.acquire();
      held.assertHeld();
      expect(held.remainingMs()).toBeGreaterThan(0);
    }
    expect(await mutex.isLocked()).toBe(false);

    const first = await mutex.acquire();
    await mutex.release();
    const second = await mutex.acquire();
    await first[Symbol.asyncDispose]();
    second.assertHeld();
    expect(first.remainingMs()).toBe(0);
    expect(await mutex.isSelfLocked()).toBe(true);
  });

  test('a stall of the event loop is seen by assertHeld, though the signal is still quiet', async () => {
    const { mutex } = await world({ expireMs: 150 });
    const section = mutex.synchronize((held) => {
      held.assertHeld();
      expect(held.signal.aborted).toBe(false);
      const until = performance.now() + 300;
      while (performance.now() < until);
      expect(held.signal.aborted).toBe(false);
      expect(() => held.assertHeld()).toThrow(LockLostError);
      expect(held.signal.aborted).toBe(true);
    });
    await expect(section).rejects.toMatchObject({ reason: 'deadline' });
  });
});

describe('waiting', () => {
  test('ends with LockTimeoutError when the time is up', async () => {
    const { mutex, other } = await world();
    await mutex.lock();
    const startedMs = performance.now();
    const error = await other.lock({ timeoutMs: 120 }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'LockTimeoutError', code: 'lock_timeout', timeoutMs: 120 });
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(119);
    expect(await mutex.unlock()).toBe('released');
  });

  test('is woken by the release, long before the lease ends', async () => {
    const { mutex, other } = await world();
    await mutex.lock();
    const waiting = other.lock();
    await delay(100);
    const releasedMs = performance.now();
    await mutex.unlock();
    await waiting;
    expect(performance.now() - releasedMs).toBeLessThan(500);
  });

  test('works without announcements, by the lease that the busy answer gave', async () => {
    const { key, mutex } = await world({ expireMs: 400 });
    const deaf = await plainConnection(server.url, { enableOfflineQueue: false, protocol: 2 });
    const other = new RedisMutex({ redis: deaf, key, expireMs: 400 });
    await mutex.lock();
    const waiting = other.lock();
    await delay(50);
    await mutex.unlock();
    await waiting;
    expect(await other.unlock()).toBe('released');
  });

  test('ends when the dead holder lease ends', async () => {
    const { redis, key, other } = await world();
    await redis.set(key, '-dead', 'PX', 300);
    const startedMs = performance.now();
    await other.lock();
    const waitedMs = performance.now() - startedMs;
    expect(waitedMs).toBeGreaterThan(250);
    expect(waitedMs).toBeLessThan(1_300);
  });

  test('ends with the reason of an aborted signal', async () => {
    const { mutex, other } = await world();
    await mutex.lock();
    const giveUp = new AbortController();
    const waiting = other.lock({ signal: giveUp.signal });
    setTimeout(() => giveUp.abort(new Error('shutting down')), 50);
    await expect(waiting).rejects.toThrow('shutting down');
    await expect(other.lock({ signal: giveUp.signal })).rejects.toThrow('shutting down');
    await mutex.unlock();
    expect(await other.tryLock()).toBe(true);
  });

  test('contenders of one connection take turns for little more than two commands each', async () => {
    const { redis, key } = await world();
    let inside = 0;
    let most = 0;
    const commands = await commandsDuring(server.url, async () => {
      const contenders = Array.from({ length: 40 }, async () => {
        await new RedisMutex({ redis, key }).synchronize(async () => {
          inside += 1;
          most = Math.max(most, inside);
          await delay(1);
          inside -= 1;
        });
      });
      await Promise.all(contenders);
    });
    expect(most).toBe(1);
    // Each asks once, each but the first again when woken, each releases; one subscription, one more try.
    expect(commands.length).toBeLessThan(3 * 40 + 10);
  });

  test('a woken waiter that gives up hands its chance on', async () => {
    const { redis, key } = await world();
    const line = WaitingLine.of(redis);
    const [first, second] = [line.join(key), line.join(key)];
    expect(first.listen()).toBe(true);
    expect(second.listen()).toBe(false);
    let secondWoke = false;
    const sleeping = second.sleep(10_000, undefined).then(() => {
      secondWoke = true;
    });
    await redis.publish(RELEASES_CHANNEL, key);
    await redis.ping();
    expect(secondWoke).toBe(false);
    first.leave(false);
    await sleeping;
    second.leave(true);
  });
});

describe('what is left behind', () => {
  test('rounds of lock, abort and unlock leave no key and no timer', { timeout: 60_000 }, async () => {
    const timers = countTimers();
    const redis = await lockConnection(server.url);
    const keys = [newKey(), newKey(), newKey()];
    const mutexes = keys.flatMap((key) => [
      new RedisMutex({ redis, key, expireMs: 60_000 }),
      new RedisMutex({ redis, key, expireMs: 60_000 }),
    ]);
    await Promise.all(
      mutexes.map(async (mutex, index) => {
        for (let round = 0; round < Math.ceil(ROUNDS / mutexes.length); round += 1) {
          const giveUp = new AbortController();
          const locking = mutex.lock({ signal: giveUp.signal }).catch(() => {});
          if ((round + index) % 3 === 0) giveUp.abort();
          else if ((round + index) % 3 === 1) setImmediate(() => giveUp.abort());
          await locking;
          await mutex.unlock();
        }
      }),
    );
    expect(await redis.exists(...keys)).toBe(0);
    await vi.waitFor(() => expect(timers.open).toBe(0), { timeout: 2_000 });
  });
});

describe('bad options are refused by name', () => {
  test.each<[string, Partial<RedisMutexOptions>]>([
    ['key', { key: '' }],
    ['expireMs', { expireMs: 1_000.5 }],
    ['expireMs', { expireMs: 0 }],
    ['expireMs', { expireMs: Number.NaN }],
    ['intervalMs', { expireMs: 1_000, intervalMs: 500 }],
    ['intervalMs', { expireMs: 1_000, intervalMs: 333.3 }],
    ['intervalMs', { intervalMs: 0 }],
    ['maxHoldMs', { maxHoldMs: -5 }],
    ['timeoutMs', { timeoutMs: -2 }],
    ['timeoutMs', { timeoutMs: 0.5 }],
  ])('%s: %o', async (field, bad) => {
    const { redis, key } = await world();
    const error = refusal(() => new RedisMutex({ redis, key, ...bad }));
    expect(error.faults.map((fault) => fault.field)).toEqual([field]);
    expect(error.message).toContain(field);
  });

  test('a client with an offline queue', async () => {
    const redis = await plainConnection(server.url);
    const error = refusal(() => new RedisMutex({ redis, key: newKey() }));
    expect(error.faults).toMatchObject([{ field: 'redis' }]);
    expect(error.message).toContain('enableOfflineQueue');
  });

  test('all together', async () => {
    const { redis } = await world();
    const error = refusal(() => new RedisMutex({ redis, key: '', expireMs: 0.5, maxHoldMs: 0.5 }));
    expect(error.faults.map((fault) => fault.field)).toEqual(['key', 'expireMs', 'maxHoldMs']);
  });

  test('a bad time-out of one call', async () => {
    const { mutex } = await world();
    await expect(mutex.lock({ timeoutMs: 1.5 })).rejects.toThrow('timeoutMs');
    expect(await mutex.tryLock()).toBe(true);
  });
});

const ROUNDS = 10_000;

async function world(options: Partial<RedisMutexOptions> = {}) {
  const redis = await lockConnection(server.url);
  const key = newKey();
  const mutex = new RedisMutex({ redis, key, ...options });
  const other = new RedisMutex({ redis, key, ...options });
  // Before the connection goes: a forgotten lock's watchdog would run on into the next test.
  onTestFinished(async () => void (await Promise.all([mutex.unlock(), other.unlock()])));
  return { redis, key, mutex, other };
}

function refusal(make: () => unknown): BillingError {
  try {
    make();
  } catch (error) {
    if (error instanceof BillingError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
