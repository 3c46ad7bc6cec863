import { Redis } from 'ioredis';
import { BillingError } from '../errors.ts';
import type { LockLogger } from './options.ts';

export interface RedisLockConnectionOptions {
  url: string;
  logger: LockLogger;
  connectTimeoutMs?: number;
  /** Also bounds how long `tryLock` takes when Redis does not answer: two sends. */
  commandTimeoutMs?: number;
}

export interface RedisLockConnection {
  redis: Redis;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
const COMMAND_TIMEOUT_MS = 2_000;
/** A socket without a word for that much longer than a command may take is replaced. */
const SOCKET_GRACE_MS = 500;
const RECONNECT_MIN_MS = 50;
const RECONNECT_MAX_MS = 1_000;
const RECONNECT_JITTER_MS = 50;

/**
 * The locks' own connection. A lock must know soon that Redis is away, and nothing may be sent later than it was
 * meant: so there is no offline queue, and no resending by the client either, since a timed-out acquire that is
 * sent again after a reconnect would lock for nobody. The mutex sends again itself, with the same token.
 *
 * @throws BillingError `unavailable` if Redis cannot be reached at first; later outages are ridden out
 */
export async function openRedisLockConnection(
  options: RedisLockConnectionOptions,
): Promise<RedisLockConnection> {
  const { url, logger } = options;
  const commandTimeoutMs = options.commandTimeoutMs ?? COMMAND_TIMEOUT_MS;
  const redis = new Redis(url, {
    connectionName: 'billonce-locks',
    lazyConnect: true,
    connectTimeout: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    enableOfflineQueue: false,
    commandTimeout: commandTimeoutMs,
    socketTimeout: commandTimeoutMs + SOCKET_GRACE_MS,
    maxRetriesPerRequest: 1,
    autoResendUnfulfilledCommands: false,
    retryStrategy: reconnectDelayMs,
  });
  redis.on('error', (error: Error) => logger.warn({ err: error }, 'locks: Redis connection failed'));
  try {
    await redis.connect();
  } catch (error) {
    redis.disconnect();
    throw new BillingError('unavailable', `Redis for locks cannot be reached at ${placeOf(url)}`, {
      cause: error,
    });
  }
  return { redis, close: () => close(redis) };
}

function reconnectDelayMs(times: number): number {
  const backOffMs = Math.min(RECONNECT_MIN_MS * 2 ** (times - 1), RECONNECT_MAX_MS);
  return backOffMs + Math.floor(Math.random() * RECONNECT_JITTER_MS);
}

/** Host, port and database; never the password. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return 'an address that is no URL';
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

/** Waits for replies under way, for as long as a command may take. */
async function close(redis: Redis): Promise<void> {
  try {
    await redis.quit();
  } catch {
    redis.disconnect();
  }
}
