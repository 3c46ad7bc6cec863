import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { draftBody } from '../support/drafts.ts';
import { apiKey, KEYS, openHttpWorld } from '../support/http-world.ts';

describe('keys', () => {
  test.each([
    ['none', undefined],
    ['a wrong one', 'Bearer bo_wrong'],
    ['an empty one', 'Bearer '],
    ['another scheme', `Basic ${KEYS.admin}`],
    ['two words', `Bearer ${KEYS.admin} ${KEYS.admin}`],
    ['the hash in place of the key', `Bearer ${apiKey('x', KEYS.admin, []).sha256}`],
    ['a very long one', `Bearer ${'x'.repeat(4_000)}`],
  ])('%s is refused with 401 and says how to authenticate', async (_what, authorization) => {
    await using world = await openHttpWorld();
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const answer = await world.call('GET', '/v1/invoices', { key: null, headers });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="billonce"/);
    expect(answer.body).toMatchObject({ status: 401, code: 'unauthorized', errors: [] });
  });

  test.each([
    ['admin', 200, 201],
    ['read', 200, 403],
    ['write', 403, 201],
  ] as const)('a key with the scope %s reads with %i and writes with %i', async (scope, reads, writes) => {
    await using world = await openHttpWorld();
    const read = await world.call('GET', '/v1/invoices', { key: KEYS[scope] });
    const write = await world.call('POST', '/v1/invoices', { key: KEYS[scope], body: draftBody() });
    expect([read.status, write.status]).toEqual([reads, writes]);
    const refused = [read, write].find((answer) => answer.status === 403);
    if (refused) expect(refused.headers.get('www-authenticate')).toContain('insufficient_scope');
  });

  test('HEAD asks for the same scope as GET', async () => {
    await using world = await openHttpWorld();
    const statuses = await Promise.all(
      [KEYS.read, KEYS.write, null].map(
        async (key) => (await world.call('HEAD', '/v1/invoices', { key })).status,
      ),
    );
    expect(statuses).toEqual([200, 403, 401]);
  });

  test('somebody without a key cannot make the server read a body', async () => {
    await using world = await openHttpWorld();
    const { port } = new URL(world.url);
    const socket = connect(Number(port), '127.0.0.1');
    const answered = new Promise<string>((resolve, reject) => {
      socket.once('data', (data) => resolve(String(data)));
      socket.once('error', reject);
    });
    socket.write(
      'POST /v1/invoices HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{',
    );
    expect(await answered).toMatch(/^HTTP\/1\.1 401/);
    socket.destroy();
  });
});

describe('limits', () => {
  test('one key is stopped when it runs wild, another is not', async () => {
    await using world = await openHttpWorld({ limits: { requestsPerMinute: 3 } });
    const ask = (key: string) => world.call('GET', '/v1/invoices', { key });
    for (let n = 0; n < 3; n += 1) expect((await ask(KEYS.read)).status).toBe(200);
    const stopped = await ask(KEYS.read);
    expect(stopped.status).toBe(429);
    expect(stopped.body.code).toBe('rate_limited');
    expect(Number(stopped.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await ask(KEYS.admin)).status).toBe(200);
  });

  test('guessing is throttled, and a valid key from the same address is not', async () => {
    await using world = await openHttpWorld({ limits: { failuresPerMinute: 3 } });
    const statuses: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      statuses.push((await world.call('GET', '/v1/invoices', { key: `bo_guess_${n}` })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect((await world.call('GET', '/v1/invoices')).status).toBe(200);
  });

  test('a forwarded address is not believed', async () => {
    await using world = await openHttpWorld({ limits: { failuresPerMinute: 1 } });
    const guess = (address: string) =>
      world.call('GET', '/v1/invoices', { key: 'bo_guess', headers: { 'x-forwarded-for': address } });
    expect((await guess('192.0.2.1')).status).toBe(401);
    expect((await guess('192.0.2.2')).status).toBe(429);
  });
});
