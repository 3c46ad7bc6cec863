/**
 * The only reader of the environment. A process names the parts it needs; every fault is reported at once, by the
 * name of its variable and with the remedy, and unsafe defaults are refused in production.
 */
import { existsSync } from 'node:fs';
import { EnvironmentReader } from './config-reader.ts';
import { BillingError } from './errors.ts';
import type { ApiKey, ApiScope } from './http/api-key.ts';

export type ConfigPart = 'database' | 'redis' | 'mail' | 'gateway' | 'api' | 'board';
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Config {
  production: boolean;
  logLevel: string;
  databaseUrl: string;
  databasePoolMax: number;
  redisUrl: string;
  redisPrefix: string;
  smtpUrl: string;
  mailFrom: string;
  gateway: { kind: 'sandbox'; url: string };
  api: { host: string; port: number; keys: readonly ApiKey[] };
  board: { user: string; passwordHash: string; sessionSecret: string };
  worker: { port: number | null; concurrency: number; lockBusyDelayMs: number; lockBusyMaxMs: number };
}

/** Fewer connections than this, and a job could wait for one that it holds itself. */
const POOL_MIN = 6;
const SECRET_LENGTH_MIN = 32;
const API_KEY_PATTERN =
  /^([a-z0-9][a-z0-9_-]*):([0-9a-f]{64}):((?:read|write|admin)(?:\+(?:read|write|admin))*)$/i;
/** Stands in every secret of `.env.example`, so that none of them gets into production. */
const EXAMPLE_MARK = 'example';
/** SHA-256 of the API key that `.env.example` publishes. */
const EXAMPLE_KEY_SHA256 = 'a84320ca79c24d8a23bca8639e2d3d3a849b33cd49ecaffb9cb3182073efb6bc';

/**
 * Parts that were not asked for are read leniently: their values may be empty, and their faults are not reported.
 * @throws BillingError `configuration` with every fault in `faults` and in its message
 */
export function readConfig(env: Environment, parts: readonly ConfigPart[]): Config {
  const production = env.NODE_ENV === 'production';
  const read = new EnvironmentReader(env, new Set(parts));
  const config: Config = {
    production,
    logLevel: read.choice(
      'LOG_LEVEL',
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'info',
    ),
    databaseUrl: read.url(
      'database',
      'DATABASE_URL',
      ['postgres:', 'postgresql:'],
      'postgres://user:password@host:5432/billonce',
    ),
    databasePoolMax: read.integer('DATABASE_POOL_MAX', { fallback: 10, min: POOL_MIN, max: 200 }),
    redisUrl: read.url('redis', 'REDIS_URL', ['redis:', 'rediss:'], 'redis://host:6379'),
    redisPrefix: read.pattern(
      'REDIS_PREFIX',
      /^\{[A-Za-z0-9_-]+\}$/,
      '{billonce}',
      'a name in braces such as {billonce}: one hash slot in a cluster',
    ),
    smtpUrl: read.url('mail', 'SMTP_URL', ['smtp:', 'smtps:'], 'smtp://user:password@host:587'),
    mailFrom: read.required(
      'mail',
      'MAIL_FROM',
      /^[^\s@<>",;]+@[^\s@<>",;]+\.[^\s@<>",;]+$/,
      'a plain address such as billing@your-company.example',
    ),
    gateway: { kind: 'sandbox', url: '' },
    api: {
      host: read.text('API_HOST', '127.0.0.1'),
      port: read.integer('API_PORT', { fallback: 3000, min: 0, max: 65_535 }),
      keys: readApiKeys(read),
    },
    board: {
      user: read.required('board', 'BOARD_USER', /^\S+$/, 'the name to log in with at /admin/queues'),
      passwordHash: read.required(
        'board',
        'BOARD_PASSWORD_HASH',
        /^scrypt:/,
        'made by: npm run billing -- hash-password',
      ),
      sessionSecret: read.required(
        'board',
        'SESSION_SECRET',
        new RegExp(`^.{${SECRET_LENGTH_MIN},}$`),
        `at least ${SECRET_LENGTH_MIN} random characters, such as from: openssl rand -hex 32`,
      ),
    },
    worker: {
      port: env.WORKER_PORT ? read.integer('WORKER_PORT', { fallback: 0, min: 0, max: 65_535 }) : null,
      concurrency: read.integer('WORKER_CONCURRENCY', { fallback: 20, min: 1, max: 1_000 }),
      lockBusyDelayMs: read.integer('LOCK_BUSY_DELAY_MS', { fallback: 5_000, min: 1, max: 600_000 }),
      lockBusyMaxMs: read.integer('LOCK_BUSY_MAX_MS', { fallback: 600_000, min: 1, max: 86_400_000 }),
    },
  };
  if (read.wants('gateway')) config.gateway = readGateway(read, env, production);
  if (production) refuseExampleSecrets(read, config);
  read.throwIfFaulty();
  return config;
}

/** For migrations: past a pooler, if one is in between. */
export function readMigrationUrl(env: Environment): string {
  const read = new EnvironmentReader(env, new Set(['database']));
  const name = env.DATABASE_DIRECT_URL ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL';
  const url = read.url(
    'database',
    name,
    ['postgres:', 'postgresql:'],
    'postgres://user:password@host:5432/billonce',
  );
  read.throwIfFaulty();
  return url;
}

/** `.env` beside package.json is read outside production only; what the environment says already, wins. */
export function loadEnvFile(path = '.env'): void {
  if (process.env.NODE_ENV === 'production' || !existsSync(path)) return;
  try {
    process.loadEnvFile(path);
  } catch (cause) {
    throw new BillingError('configuration', `${path} cannot be read`, { cause });
  }
}

function readGateway(read: EnvironmentReader, env: Environment, production: boolean): Config['gateway'] {
  const kind = read.choice('GATEWAY', ['sandbox'], 'sandbox');
  if (production && kind === 'sandbox' && env.ALLOW_SANDBOX !== 'true') {
    read.fault(
      'GATEWAY',
      'is the sandbox, which moves no money: production refuses it unless ALLOW_SANDBOX=true',
    );
  }
  return {
    kind: 'sandbox',
    url: read.url('gateway', 'SANDBOX_URL', ['http:', 'https:'], 'http://127.0.0.1:4010'),
  };
}

function readApiKeys(read: EnvironmentReader): ApiKey[] {
  const text = read.required(
    'api',
    'API_KEYS',
    /\S/,
    'name:sha256:scopes,… where scopes are read+write or admin',
  );
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return entries.flatMap((entry, index) => {
    const match = API_KEY_PATTERN.exec(entry);
    if (!match) {
      // The entry itself is not repeated: somebody may have put the key in place of its hash.
      read.fault(
        'API_KEYS',
        `has an entry (number ${index + 1}) that is not name:sha256:scopes, with the SHA-256 in 64 hex digits and scopes such as read+write`,
        'api',
      );
      return [];
    }
    const [, name = '', sha256 = '', scopes = ''] = match;
    return [{ name, sha256: sha256.toLowerCase(), scopes: scopes.toLowerCase().split('+') as ApiScope[] }];
  });
}

function refuseExampleSecrets(read: EnvironmentReader, config: Config): void {
  const remedy = 'is the published example: production needs one of your own';
  if (config.board.sessionSecret.includes(EXAMPLE_MARK)) read.fault('SESSION_SECRET', remedy, 'board');
  if (config.board.passwordHash.includes(EXAMPLE_MARK)) read.fault('BOARD_PASSWORD_HASH', remedy, 'board');
  if (config.api.keys.some((key) => key.sha256 === EXAMPLE_KEY_SHA256)) read.fault('API_KEYS', remedy, 'api');
}
