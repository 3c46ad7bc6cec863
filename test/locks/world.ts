import { Redis, type RedisOptions } from 'ioredis';
import { onTestFinished } from 'vitest';
import type { LockLogger } from '../../src/locks/options.ts';
import {
  openRedisLockConnection,
  type RedisLockConnectionOptions,
} from '../../src/locks/redis-lock-connection.ts';

let keys = 0;

/** A key of the test's own. */
export function newKey(): string {
  keys += 1;
  return `test:lock:${process.pid}:${keys}`;
}

/** The product's own connection, closed when the test ends. */
export async function lockConnection(
  url: string,
  options: Partial<RedisLockConnectionOptions> = {},
): Promise<Redis> {
  const { redis } = await openRedisLockConnection({ url, logger: quiet, ...options });
  onTestFinished(() => redis.disconnect());
  return redis;
}

/** A client with ioredis' own ideas about everything that is not given. */
export async function plainConnection(url: string, options: RedisOptions = {}): Promise<Redis> {
  const redis = new Redis(url, { lazyConnect: true, ...options });
  redis.on('error', () => {});
  await redis.connect();
  onTestFinished(() => redis.disconnect());
  return redis;
}

export const quiet: LockLogger = { debug() {}, warn() {} };

export function keptLog(): LockLogger & { readonly messages: string[] } {
  const messages: string[] = [];
  return {
    messages,
    debug: (_, message) => void messages.push(message),
    warn: (_, message) => void messages.push(message),
  };
}

/** The commands that clients sent while `fn` ran, without those that scripts called. */
export async function commandsDuring(url: string, fn: () => Promise<unknown>): Promise<string[]> {
  const observer = await plainConnection(url);
  const monitor = await observer.monitor();
  const seen: string[] = [];
  const done = new Promise<void>((resolve) => {
    monitor.on('monitor', (_time: string, args: string[], source: string) => {
      const name = args[0]?.toLowerCase() ?? '';
      if (name === 'echo') resolve();
      else if (source !== 'lua') seen.push(name);
    });
  });
  await fn();
  await observer.echo('done');
  await done;
  monitor.disconnect();
  return seen.filter((name) => !['info', 'hello', 'client', 'monitor'].includes(name));
}

/** Timers that were made through the globals and neither ran nor were cleared. */
export function countTimers(): { readonly open: number } {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const open = new Set<unknown>();
  const counted = (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const timer = set(() => {
      open.delete(timer);
      run(...args);
    }, ms);
    open.add(timer);
    return timer;
  };
  globalThis.setTimeout = Object.assign(counted, set);
  globalThis.clearTimeout = (timer) => {
    open.delete(timer);
    clear(timer);
  };
  onTestFinished(() => {
    globalThis.setTimeout = set;
    globalThis.clearTimeout = clear;
  });
  return {
    get open() {
      return open.size;
    },
  };
}
