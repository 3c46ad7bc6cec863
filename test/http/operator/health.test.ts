import { expect, test } from 'vitest';
import { buildHealthServer, type Health } from '../../../src/http/operator/health.ts';
import { loggerInto, openHttpWorld } from '../../support/http-world.ts';

test.each([
  ['ok', 200],
  ['degraded', 200],
  ['unavailable', 503],
] as const)('/readyz says %s with %i and why, without a key', async (status, code) => {
  const checks = { postgres: 'ok', redis: 'Redis cannot be reached at localhost:6379' };
  await using world = await openHttpWorld({
    health: { live: () => undefined, ready: async () => ({ status, checks }) },
  });
  const answer = await world.call('GET', '/readyz', { key: null });
  expect(answer.status).toBe(code);
  expect(answer.body).toEqual({ status, checks });
  expect(answer.headers.get('cache-control')).toBe('no-store');
});

test('/healthz says whether the process is alive, and what is wrong with it', async () => {
  let fault: string | undefined;
  await using world = await openHttpWorld({
    health: { live: () => fault, ready: async () => ({ status: 'ok', checks: {} }) },
  });
  const alive = await world.call('GET', '/healthz', { key: null });
  fault = 'no job has made progress for 5 min';
  const stuck = await world.call('GET', '/healthz', { key: null });
  expect([alive.status, alive.body]).toEqual([200, { status: 'ok' }]);
  expect([stuck.status, stuck.body]).toEqual([503, { status: 'failing', reason: fault }]);
});

test('a worker has the same two routes, and nothing else', async () => {
  const health: Health = {
    live: () => undefined,
    ready: async () => ({ status: 'degraded', checks: { smtp: 'SMTP cannot be reached' } }),
  };
  const server = buildHealthServer(health, loggerInto([]));
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  try {
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([200, await health.ready()]);
    const other = await fetch(`${url}/v1/invoices`);
    expect([other.status, other.headers.get('content-type')]).toEqual([
      404,
      'application/problem+json; charset=utf-8',
    ]);
  } finally {
    await server.close();
  }
});
