import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type ConfigPart, readConfig, readMigrationUrl } from '../src/config.ts';
import { isBillingError } from '../src/errors.ts';

const SHA = 'a'.repeat(64);
const GOOD = {
  DATABASE_URL: 'postgres://app:secret-word@db.example:5432/billonce',
  REDIS_URL: 'redis://redis.example:6379',
  SMTP_URL: 'smtp://mail.example:587',
  MAIL_FROM: 'billing@company.example',
  SANDBOX_URL: 'http://127.0.0.1:4010',
  API_KEYS: `shop:${SHA}:read+write, ops:${'b'.repeat(64)}:admin`,
  BOARD_USER: 'operator',
  BOARD_PASSWORD_HASH: 'scrypt:16384:8:1:c2FsdA==:aGFzaA==',
  SESSION_SECRET: '0123456789abcdef0123456789abcdef',
};
const EXAMPLE = parseEnv(readFileSync('.env.example', 'utf8')) as Record<string, string>;
const ALL: ConfigPart[] = ['database', 'redis', 'mail', 'gateway', 'api', 'board'];

function faultsOf(env: Record<string, string | undefined>, parts = ALL): string[] {
  try {
    readConfig(env, parts);
    return [];
  } catch (error) {
    if (!isBillingError(error, 'configuration')) throw error;
    for (const fault of error.faults) expect(error.message).toContain(fault.message);
    return error.faults.map((fault) => fault.field);
  }
}

test('a complete environment is read, with the defaults of the design', () => {
  const config = readConfig(GOOD, ALL);
  expect(config).toMatchObject({
    production: false,
    redisPrefix: '{billonce}',
    databasePoolMax: 10,
    worker: { concurrency: 20, lockBusyDelayMs: 5_000, lockBusyMaxMs: 600_000, port: null },
  });
  expect(config.api.keys).toEqual([
    { name: 'shop', sha256: SHA, scopes: ['read', 'write'] },
    { name: 'ops', sha256: 'b'.repeat(64), scopes: ['admin'] },
  ]);
});

test('every fault is reported at once, by name', () => {
  const faults = faultsOf({
    DATABASE_URL: 'mysql://x',
    API_PORT: 'many',
    WORKER_CONCURRENCY: '0',
    LOG_LEVEL: 'loud',
    REDIS_PREFIX: 'bull',
  });
  expect(faults.sort()).toEqual(
    [
      'API_KEYS',
      'API_PORT',
      'BOARD_PASSWORD_HASH',
      'BOARD_USER',
      'DATABASE_URL',
      'LOG_LEVEL',
      'MAIL_FROM',
      'REDIS_PREFIX',
      'REDIS_URL',
      'SANDBOX_URL',
      'SESSION_SECRET',
      'SMTP_URL',
      'WORKER_CONCURRENCY',
    ].sort(),
  );
});

test('what a process did not ask for is no fault of it', () => {
  expect(faultsOf({ DATABASE_URL: GOOD.DATABASE_URL }, ['database'])).toEqual([]);
});

test.each([
  ['DATABASE_POOL_MAX', '5'],
  ['DATABASE_POOL_MAX', '1.5'],
  ['LOCK_BUSY_DELAY_MS', '-1'],
  ['LOCK_BUSY_MAX_MS', '1e3'],
  ['WORKER_PORT', '70000'],
  ['GATEWAY', 'paypal'],
  ['MAIL_FROM', 'Company <billing@company.example>'],
  ['MAIL_FROM', 'billing'],
  ['SESSION_SECRET', 'short'],
  ['BOARD_PASSWORD_HASH', 'password'],
  ['API_KEYS', 'shop:not-a-hash:admin'],
  ['API_KEYS', `shop:${SHA}:everything`],
])('%s=%s is refused by name', (name, value) => {
  expect(faultsOf({ ...GOOD, [name]: value })).toEqual([name]);
});

test('a fault never repeats a secret', () => {
  const secrets = {
    ...GOOD,
    DATABASE_URL: 'mysql://app:hunter2@db',
    API_KEYS: 'shop:hunter2:admin',
    SESSION_SECRET: 'hunter2',
  };
  expect(() => readConfig(secrets, ALL)).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
  );
});

describe('production', () => {
  const production = { ...GOOD, NODE_ENV: 'production' };

  test('refuses the sandbox, which moves no money, unless it was allowed', () => {
    expect(faultsOf(production)).toEqual(['GATEWAY']);
    expect(faultsOf({ ...production, ALLOW_SANDBOX: 'true' })).toEqual([]);
  });

  test('refuses the secrets that .env.example publishes', () => {
    const published = {
      ...production,
      ALLOW_SANDBOX: 'true',
      API_KEYS: 'example:a84320ca79c24d8a23bca8639e2d3d3a849b33cd49ecaffb9cb3182073efb6bc:admin',
      BOARD_PASSWORD_HASH: EXAMPLE.BOARD_PASSWORD_HASH,
      SESSION_SECRET: EXAMPLE.SESSION_SECRET,
    };
    expect(faultsOf(published).sort()).toEqual(['API_KEYS', 'BOARD_PASSWORD_HASH', 'SESSION_SECRET']);
  });
});

test('.env.example is a good configuration for development', () => {
  expect(faultsOf(EXAMPLE)).toEqual([]);
});

test('migrations go past the pooler where one is named', () => {
  expect(readMigrationUrl({ ...GOOD, DATABASE_DIRECT_URL: 'postgres://direct/billonce' })).toBe(
    'postgres://direct/billonce',
  );
  expect(readMigrationUrl(GOOD)).toBe(GOOD.DATABASE_URL);
});
