import { expect, test } from 'vitest';
import { logIn, openBoardWorld } from '../../support/board-world.ts';

test('while Redis is away, log-in and the rest go on, and the board says so without details', async () => {
  await using world = await openBoardWorld();
  await world.redis.kill();
  const { response, cookie } = await logIn(world.url);
  expect(response.status).toBe(303);
  expect((await fetch(`${world.url}/admin/queues`, { headers: { cookie } })).status).toBe(200);
  const queues = await fetch(`${world.url}/admin/queues/api/queues?page=1&jobsPerPage=10`, {
    headers: { cookie },
  });
  const body = await queues.text();
  expect(queues.status).toBe(500);
  expect(body).toContain('Redis did not answer');
  expect(body).not.toMatch(/127\.0\.0\.1|ECONN/);
  expect((await world.call('GET', '/v1/invoices')).status).toBe(200);
});
