/** Servers that somebody else runs: we make what we need beside what is there, and remove it at the end. */
import { BillingError } from '../../errors.ts';
import { openRunDatabases } from './databases.ts';
import { askRedis, freshPrefixBeside, newPrefix, removeKeys } from './redis-client.ts';
import type { Opened, PostgresService, RedisService } from './services.ts';

/** @throws BillingError `configuration` | `unavailable`: what was asked for by name is not replaced by a guess */
export async function openGivenPostgres(serverUrl: string): Promise<Opened<PostgresService>> {
  const place = placeOf('TEST_DATABASE_URL', serverUrl, ['postgres:', 'postgresql:']);
  const databases = await openRunDatabases(serverUrl).catch((error) => {
    throw unusable('TEST_DATABASE_URL', `no database could be made at ${place}`, error);
  });
  return {
    service: { kind: 'given', url: databases.url, server: null, freshDatabase: databases.freshDatabase },
    description: `${databases.version} at ${place}, in the database ${new URL(databases.url).pathname.slice(1)}`,
    close: () => databases.dropAll(),
  };
}

/** @throws BillingError `configuration` | `unavailable` */
export async function openGivenRedis(url: string): Promise<Opened<RedisService>> {
  const place = placeOf('TEST_REDIS_URL', url, ['redis:', 'rediss:']);
  const version = await askRedis(url).catch((error) => {
    throw unusable('TEST_REDIS_URL', `no Redis answers at ${place}`, error);
  });
  const prefix = newPrefix();
  return {
    service: { kind: 'given', url, prefix, freshPrefix: () => freshPrefixBeside(prefix), server: null },
    description: `${version} at ${place}, under the prefix ${prefix}`,
    close: () => removeKeys(url, prefix),
  };
}

/** Host and port, without user or password. */
function placeOf(name: string, value: string, protocols: readonly string[]): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (!url || !protocols.includes(url.protocol)) {
    throw new BillingError(
      'configuration',
      `${name} is not a URL that begins with ${protocols.join('// or ')}//`,
    );
  }
  return url.host;
}

function unusable(name: string, what: string, error: unknown): BillingError {
  const why = error instanceof Error ? error.message || error.name : String(error);
  return new BillingError('unavailable', `${name}: ${what} (${why})`, { cause: error });
}
