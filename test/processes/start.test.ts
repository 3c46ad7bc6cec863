/** The processes as production starts them: what they say and how they end if something is missing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { pickFreePort } from '../../src/demo/services/free-port.ts';
import { freshDatabase, freshPrefix, redisUrl } from '../support/services.ts';

const nowhere = await pickFreePort();
const databaseUrl = await freshDatabase();
const GOOD = {
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl(),
  REDIS_PREFIX: freshPrefix(),
  SMTP_URL: `smtp://127.0.0.1:${nowhere}`,
  MAIL_FROM: 'billing@company.example',
  SANDBOX_URL: `http://127.0.0.1:${nowhere}`,
  API_PORT: '0',
  API_KEYS: `shop:${'a'.repeat(64)}:admin`,
  BOARD_USER: 'operator',
  BOARD_PASSWORD_HASH:
    'scrypt:32768:8:3:exampleexampleexamplew==:HMtXgJzhIp29hwEW22LUzyUARxfwFPrA8RpBjhPfazo=',
  SESSION_SECRET: '0123456789abcdef0123456789abcdef',
};

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs until the process ends or a line matches `until`; then it is told to stop. */
async function run(script: string, env: Record<string, string>, until?: RegExp): Promise<Ended> {
  const child = spawn(process.execPath, ['scripts/start.mjs', script], {
    env: { PATH: process.env.PATH, ...env },
  });
  let stdout = '';
  let stderr = '';
  let told = false;
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    if (!until?.test(stdout) || told) return;
    told = true; // a second signal would end it by force
    child.kill('SIGTERM');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const [code] = await once(child, 'exit');
  return { code, stdout, stderr };
}

describe.each([
  ['worker', 'workers/main.js', 'SMTP_URL'],
  ['api', 'src/server.js', 'API_KEYS'],
])('%s', (_, script, needed) => {
  test('a bad configuration: every fault in one message, exit code 2, no stack trace', async () => {
    const { code, stderr } = await run(script, { WORKER_CONCURRENCY: 'many' });
    expect(code).toBe(2);
    for (const name of ['DATABASE_URL', 'REDIS_URL', 'WORKER_CONCURRENCY', needed])
      expect(stderr).toContain(name);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test('a database that was not migrated: says which command to run', async () => {
    const { code, stderr } = await run(script, {
      ...GOOD,
      DATABASE_URL: await freshDatabase({ empty: true }),
    });
    expect(code).toBe(2);
    expect(stderr.trim()).toMatch(/Run "npm run db:migrate"$/);
  });
});

test('a required service that stays away: waits 30 s, then one sentence and exit code 3', {
  timeout: 60_000,
}, async () => {
  const noPostgres = { ...GOOD, DATABASE_URL: `postgres://app:hunter2@127.0.0.1:${nowhere}/billonce` };
  const noRedis = { ...GOOD, REDIS_URL: `redis://:hunter2@127.0.0.1:${nowhere}` };
  const [worker, api, withoutRedis] = await Promise.all([
    run('workers/main.js', noPostgres),
    run('src/server.js', noPostgres),
    run('workers/main.js', noRedis),
  ]);
  for (const { code, stderr, stdout } of [worker, api, withoutRedis]) {
    expect(code).toBe(3);
    expect(stderr.trim().split('\n').length).toBe(1);
    expect(stderr).toContain(`127.0.0.1:${nowhere}`);
    expect(stderr + stdout).not.toContain('hunter2');
    expect(stdout).toContain('trying again for 30 s');
  }
  expect(withoutRedis.stderr.trim()).toBe(`Redis cannot be reached at 127.0.0.1:${nowhere}`);
});

test('the API without Redis starts, warns in one sentence, and stops when told', async () => {
  const { code, stdout } = await run(
    'src/server.js',
    { ...GOOD, REDIS_URL: `redis://127.0.0.1:${nowhere}` },
    /"API started"/,
  );
  expect(code).toBe(0);
  expect(stdout.match(/Redis cannot be reached at [^"]*; starting without it/g)?.length).toBe(1);
});

test('the worker without SMTP and gateway starts, warns once each, and stops when told', async () => {
  const { code, stdout } = await run('workers/main.js', GOOD, /"worker started"/);
  expect(code).toBe(0);
  const warnings = stdout.split('\n').filter((line) => line.includes('starting without it'));
  expect(warnings.length).toBe(2);
});

test('without a build the processes say which command makes one', async () => {
  const { code, stderr } = await run('src/not-built.js', GOOD);
  expect(code).toBe(2);
  expect(stderr).toContain('npm run build');
});
