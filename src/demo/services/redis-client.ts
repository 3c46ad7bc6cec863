/** The few things that the demo's services ask a Redis server themselves. */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';

const COMMAND_LIMIT_MS = 5_000;
const SCAN_COUNT = 500;

/** Resolves to the server's version if it takes this URL's password. */
export async function askRedis(url: string): Promise<string> {
  return withRedis(
    url,
    async (redis) => /redis_version:(\S+)/.exec(await redis.info('server'))?.[1] ?? 'unknown',
  );
}

export function newPrefix(): string {
  return `{billonce-${randomBytes(6).toString('hex')}}`;
}

/** Another hash tag that starts like the run's own: `{billonce-…-…}`. */
export function freshPrefixBeside(ownPrefix: string): string {
  return `${ownPrefix.slice(0, -1)}-${randomBytes(5).toString('hex')}}`;
}

/** Removes every key of this run, under its own prefix and under fresh ones; nothing else. */
export async function removeKeys(url: string, ownPrefix: string): Promise<void> {
  await withRedis(url, async (redis) => {
    const stem = ownPrefix.slice(0, -1);
    for await (const keys of redis.scanStream({ match: `${stem}*`, count: SCAN_COUNT })) {
      const own = (keys as string[]).filter((key) => key.startsWith(stem));
      if (own.length > 0) await redis.unlink(...own);
    }
  });
}

async function withRedis<T>(url: string, use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: COMMAND_LIMIT_MS,
    commandTimeout: COMMAND_LIMIT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  redis.on('error', () => {}); // said again by the command that fails
  try {
    await redis.connect();
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}
