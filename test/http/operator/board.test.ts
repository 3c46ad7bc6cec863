import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BoardWorld, logIn, openBoardWorld } from '../../support/board-world.ts';

// One world for the file: nothing in it can be changed, which is what these tests show.
let world: BoardWorld;
let cookie: string;
beforeAll(async () => {
  world = await openBoardWorld();
  ({ cookie } = await logIn(world.url));
});
afterAll(() => world[Symbol.asyncDispose]());

describe('the board', () => {
  test('shows the queues with their jobs', async () => {
    const { queues } = await json('/api/queues?activeQueue=billing&status=failed&page=1&jobsPerPage=10');
    const billing = queues.find((queue: { name: string }) => queue.name === 'billing');
    expect(billing).toMatchObject({ readOnlyMode: true, allowRetries: false, counts: { failed: 1 } });
    expect(billing.jobs).toMatchObject([
      { name: 'finalize-invoice', failedReason: 'the gateway cannot be reached' },
    ]);
  });

  test('shows ids, and nothing else that somebody put into a job', async () => {
    const paths = [
      '/api/queues?activeQueue=billing&status=failed&page=1&jobsPerPage=10',
      `/api/queues/billing/${world.failedJobId}`,
      `/api/queues/billing/${world.failedJobId}/logs`,
      `/api/queues/billing/${world.failedJobId}/flow?depth=3&maxChildren=10`,
    ];
    const answers = await Promise.all(paths.map(async (path) => (await ask('GET', path)).text()));
    expect(answers.join()).toContain('01890000-0000-7000-8000-000000000001');
    expect(answers.join()).not.toContain('Ann Example');
  });

  test('its page asks for nothing from elsewhere', async () => {
    const response = await ask('GET', '');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.text()).not.toMatch(/https?:\/\//);
  });
});

describe('read-only', () => {
  const changes: [method: string, path: string, body?: object][] = [
    ['PUT', '/api/queues/billing/JOB/retry'],
    ['PUT', '/api/queues/billing/JOB/promote'],
    ['PUT', '/api/queues/billing/JOB/clean'],
    ['PUT', '/api/queues/billing/retry/failed'],
    ['PUT', '/api/queues/billing/clean/failed'],
    ['PUT', '/api/queues/billing/promote'],
    ['PUT', '/api/queues/billing/pause'],
    ['PUT', '/api/queues/billing/resume'],
    ['PUT', '/api/queues/billing/empty'],
    ['PUT', '/api/queues/billing/obliterate'],
    ['PUT', '/api/queues/billing/concurrency', { concurrency: 1 }],
    ['PUT', '/api/queues/billing/rate-limit', { max: 1, duration: 1 }],
    ['PUT', '/api/queues/pause'],
    ['PUT', '/api/queues/resume'],
    ['POST', '/api/queues/billing/add', { name: 'finalize-invoice', data: {}, options: {} }],
    ['PATCH', '/api/queues/billing/JOB/update-data', { data: {} }],
    ['PATCH', '/api/queues/billing/JOB/delay', { delay: 1 }],
    ['PATCH', '/api/queues/billing/JOB/priority', { priority: 1 }],
  ];

  test.each(changes)('%s %s is refused on the server', async (method, path, body) => {
    const before = await state();
    const response = await ask(method, path.replace('JOB', world.failedJobId), body);
    expect(response.status).toBe(405);
    expect(await state()).toEqual(before);
  });

  test('a retry without a session is refused before that', async () => {
    const response = await fetch(`${world.url}/admin/queues/api/queues/billing/${world.failedJobId}/retry`, {
      method: 'PUT',
      headers: { origin: world.url },
    });
    expect(response.status).toBe(401);
    expect(await state()).toMatchObject({ billing: { failed: 1, waiting: 0 } });
  });
});

async function state() {
  const [billing, mail, paused] = await Promise.all([
    world.billing.getJobCounts(),
    world.mail.getJobCounts(),
    world.billing.isPaused(),
  ]);
  return { billing, mail, paused };
}

function ask(method: string, path: string, body?: object): Promise<Response> {
  return fetch(`${world.url}/admin/queues${path}`, {
    method,
    headers: { cookie, origin: world.url, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

// biome-ignore lint/suspicious/noExplicitAny: the board's own shapes
async function json(path: string): Promise<any> {
  const response = await ask('GET', path);
  expect(response.status).toBe(200);
  return response.json();
}
