/**
 * Postgres and Redis for the demo, the tests, chaos and bench, on a machine that may have neither. DATABASE_URL
 * and REDIS_URL are never looked at: a developer's environment may point at real data.
 */
import { BillingError, isBillingError } from '../../errors.ts';
import { openPostgresContainer, openRedisContainer, whyNoEngine } from './containers.ts';
import { openEmbeddedPostgres } from './embedded-postgres.ts';
import { openGivenPostgres, openGivenRedis } from './given.ts';
import { type Guard, openGuard } from './guard.ts';
import { openLocalRedis } from './local-redis.ts';
import type { Opened, PostgresService, RedisService, Services } from './services.ts';

export interface OpenServicesOptions {
  /** Told in one line each: what was chosen, what was not and why, and what is about to be installed. */
  announce(line: string): void;
  /**
   * Postgres and Redis keep their data here and find them again. Only embedded servers do; TEST_DATABASE_URL and
   * TEST_REDIS_URL are left alone. Absent: temporary folders, removed at the end.
   */
  dataDir?: string;
  /**
   * False: a Postgres that is started here does not wait for the disk. It survives its own kill −9, and not that of
   * the machine. For suites that make many databases and measure nothing. Default: true, as in production.
   */
  durable?: boolean;
  /** SERVICES, TEST_DATABASE_URL, TEST_REDIS_URL, DOCKER_HOST, PATH; the process' own if absent. */
  environment?: NodeJS.ProcessEnv;
}

/** A way to come by a service. One that throws says why; the next one is tried. */
interface Rung<T> {
  label: string;
  open(deadlineMs: number): Promise<Opened<T>>;
}

const RUNG_LIMIT_MS = 30_000;

/**
 * Both are opened at the same time. If one cannot be, the other is closed again.
 *
 * @throws BillingError `configuration` (SERVICES or a URL makes no sense) | `unavailable`, with one sentence that
 *   says what to install
 */
export async function openServices(options: OpenServicesOptions): Promise<Services> {
  const environment = options.environment ?? process.env;
  const forced = readForced(environment.SERVICES, options.dataDir);
  const withoutEngine = forced === 'embedded' ? null : await whyNoEngine(environment);
  if (forced === 'containers' && withoutEngine) {
    throw new BillingError(
      'unavailable',
      `SERVICES=containers, but ${withoutEngine}: start Docker, or unset SERVICES`,
    );
  }
  const guard = openGuard();
  const plan: Plan = { ...options, environment, forced, withoutEngine, guard };
  const [postgres, redis] = await Promise.allSettled([openPostgres(plan), openRedis(plan)]);
  if (postgres.status === 'fulfilled' && redis.status === 'fulfilled') {
    return asServices(postgres.value, redis.value, guard);
  }
  for (const opened of [postgres, redis]) {
    if (opened.status === 'fulfilled') await opened.value.close();
  }
  await guard.close();
  throw firstReason(postgres, redis);
}

type Forced = 'containers' | 'embedded' | null;

interface Plan extends OpenServicesOptions {
  environment: NodeJS.ProcessEnv;
  forced: Forced;
  /** Why there are no containers; null if there are, or if nobody asked. */
  withoutEngine: string | null;
  guard: Guard;
}

function readForced(value: string | undefined, dataDir: string | undefined): Forced {
  if (value !== undefined && value !== '' && value !== 'containers' && value !== 'embedded') {
    throw new BillingError(
      'configuration',
      `SERVICES is "${value}", but only containers and embedded are known`,
    );
  }
  if (dataDir === undefined) return value || null;
  if (value === 'containers') {
    throw new BillingError(
      'configuration',
      'SERVICES=containers keeps no data: unset it, or use SERVICES=embedded',
    );
  }
  return 'embedded';
}

function openPostgres(plan: Plan): Promise<Opened<PostgresService>> {
  const { guard, dataDir, durable = true } = plan;
  return climb('Postgres', plan, {
    given: { name: 'TEST_DATABASE_URL', open: openGivenPostgres },
    containers: {
      label: 'a container',
      open: (deadlineMs) => openPostgresContainer({ deadlineMs, durable }),
    },
    embedded: {
      label: 'embedded',
      open: (deadlineMs) => openEmbeddedPostgres(guard, { deadlineMs, dataDir, durable }),
    },
    remedy: 'run npm ci, start Docker, or set TEST_DATABASE_URL',
  });
}

function openRedis(plan: Plan): Promise<Opened<RedisService>> {
  const { guard, dataDir, environment, announce } = plan;
  return climb('Redis', plan, {
    given: { name: 'TEST_REDIS_URL', open: openGivenRedis },
    containers: { label: 'a container', open: openRedisContainer },
    embedded: {
      label: 'a local server',
      open: (deadlineMs) => openLocalRedis(guard, { deadlineMs, dataDir, environment, announce }),
    },
    remedy:
      'install redis-server or valkey-server (Debian: apt-get install redis-server; macOS: brew install redis), ' +
      'start Docker, or set TEST_REDIS_URL',
  });
}

interface Ladder<T> {
  given: { name: 'TEST_DATABASE_URL' | 'TEST_REDIS_URL'; open(url: string): Promise<Opened<T>> };
  containers: Rung<T>;
  embedded: Rung<T>;
  remedy: string;
}

async function climb<T>(name: string, plan: Plan, ladder: Ladder<T>): Promise<Opened<T>> {
  const { announce, forced, withoutEngine } = plan;
  const url = plan.environment[ladder.given.name];
  if (url && forced) announce(`${name}: ${ladder.given.name} is left alone, since ${whyForced(plan)}`);
  if (url && !forced) {
    const opened = await ladder.given.open(url);
    announce(`${name}: ${opened.description}, as ${ladder.given.name} says`);
    return opened;
  }

  const rungs: Rung<T>[] = [];
  if (forced !== 'embedded' && !withoutEngine) rungs.push(ladder.containers);
  if (forced !== 'containers') rungs.push(ladder.embedded);
  const reasons = withoutEngine ? [withoutEngine] : [];
  for (const rung of rungs) {
    try {
      const opened = await rung.open(Date.now() + RUNG_LIMIT_MS);
      announce(`${name}: ${opened.description}${reasons.length > 0 ? ` (${reasons.join('; ')})` : ''}`);
      return opened;
    } catch (error) {
      const reason = firstLine(error);
      reasons.push(reason);
      if (rung !== rungs.at(-1)) announce(`${name}: not from ${rung.label}: ${reason}`);
    }
  }
  throw new BillingError(
    'unavailable',
    `${name} was neither found nor started (${reasons.join('; ')}): ${ladder.remedy}`,
  );
}

function firstLine(error: unknown): string {
  const said = error instanceof Error ? error.message || error.name : String(error);
  return said.split('\n')[0] ?? said;
}

function whyForced({ dataDir, forced }: Plan): string {
  return dataDir === undefined ? `SERVICES=${forced}` : 'data are kept here';
}

function asServices(postgres: Opened<PostgresService>, redis: Opened<RedisService>, guard: Guard): Services {
  let closing: Promise<void> | null = null;
  const closeAll = async () => {
    const closed = await Promise.allSettled([postgres.close(), redis.close()]);
    // Whatever went wrong above, the guard still ends what it was told of and not told to forget.
    await guard.close();
    const failed = closed.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  };
  return {
    postgres: postgres.service,
    redis: redis.service,
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}

function firstReason(...results: PromiseSettledResult<unknown>[]): unknown {
  const reasons = results
    .filter((result) => result.status === 'rejected')
    .map((result) => result.reason as unknown);
  if (reasons.length < 2 || !reasons.every((reason) => isBillingError(reason))) return reasons[0];
  const [first, second] = reasons as BillingError[];
  return first && second ? new BillingError(first.code, `${first.message}. ${second.message}`) : first;
}
