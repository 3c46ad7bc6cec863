/**
 * Connections to Redis for the queues. Workers wait an outage out; whoever enqueues gets an answer in time, since
 * the row in Postgres is what counts and the job only reminds of it.
 */
import { Redis, type RedisOptions } from 'ioredis';
import { BillingError } from '../errors.ts';
import type { Log } from '../operations/ports.ts';

const RECONNECT_DELAY_MAX_MS = 2_000;
const CONNECT_TIMEOUT_MS = 5_000;
const COMMAND_TIMEOUT_MS = 3_000;

export interface RedisTarget {
  redisUrl: string;
  log: Log;
  name: string;
}

/** Never gives a command up: BullMQ's blocking calls go on after an outage. */
export function openPatientRedis(target: RedisTarget): Redis {
  return openRedis(target, { maxRetriesPerRequest: null });
}

/** Rejects within seconds while Redis is away. */
export function openPromptRedis(target: RedisTarget): Redis {
  return openRedis(target, {
    maxRetriesPerRequest: 1,
    commandTimeout: COMMAND_TIMEOUT_MS,
    enableOfflineQueue: true,
  });
}

/**
 * @throws BillingError `unavailable` if Redis cannot be reached; `configuration` if it may evict keys, since an
 * evicted job or lock is gone without a trace
 */
export async function checkRedis(redis: Redis, redisUrl: string): Promise<void> {
  const policy = await evictionPolicy(redis, redisUrl);
  if (policy !== null && policy !== 'noeviction') {
    throw new BillingError(
      'configuration',
      `Redis at ${describeRedis(redisUrl)} may evict keys (maxmemory-policy ${policy}): set maxmemory-policy to noeviction`,
    );
  }
}

export function describeRedis(redisUrl: string): string {
  const url = URL.canParse(redisUrl) ? new URL(redisUrl) : null;
  return url ? `${url.hostname || 'localhost'}:${url.port || '6379'}` : 'an address that cannot be read';
}

function openRedis({ redisUrl, log, name }: RedisTarget, options: RedisOptions): Redis {
  const redis = new Redis(redisUrl, {
    connectionName: `billonce:${name}`,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: (attempt) => Math.min(attempt * 100, RECONNECT_DELAY_MAX_MS),
    ...options,
  });
  reportOutagesOnce(redis, log, `Redis (${name}) at ${describeRedis(redisUrl)}`);
  return redis;
}

/** One line when it goes and one when it comes back, not one for every try. */
function reportOutagesOnce(redis: Redis, log: Log, what: string): void {
  let away = false;
  redis.on('error', (error: Error & { code?: string }) => {
    if (away) return;
    away = true;
    log.warn({ code: error.code ?? error.name }, `${what} cannot be reached; trying again`);
  });
  redis.on('ready', () => {
    if (away) log.info({}, `${what} is back`);
    away = false;
  });
}

async function evictionPolicy(redis: Redis, redisUrl: string): Promise<string | null> {
  try {
    const info = await redis.info('memory');
    return /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? null;
  } catch (cause) {
    throw new BillingError('unavailable', `Redis cannot be reached at ${describeRedis(redisUrl)}`, { cause });
  }
}
