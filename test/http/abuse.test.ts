import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { BillingError } from '../../src/errors.ts';
import { draftBody } from '../support/drafts.ts';
import { type Answer, type HttpWorld, KEYS, openHttpWorld } from '../support/http-world.ts';

const MEBIBYTE = 1024 * 1024;

describe('what cannot be taken is refused with a clear 4xx', () => {
  const bodies: [string, string, number][] = [
    ['no JSON', 'hello', 400],
    ['half of a JSON text', '{"externalId":', 400],
    ['a number', '7', 400],
    ['a list', '[]', 400],
    ['null', 'null', 400],
    ['very deep lists', '['.repeat(500_000) + ']'.repeat(500_000), 400],
    ['very deep objects', `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`, 400],
    [
      'depth below a known field',
      JSON.stringify(draftBody()).replace('"Work"', '['.repeat(9_000) + ']'.repeat(9_000)),
      400,
    ],
    [
      'depth in the metadata',
      JSON.stringify(draftBody({ metadata: 0 })).replace(
        '"metadata":0',
        `"metadata":{"a":${'['.repeat(9_000)}${']'.repeat(9_000)}}`,
      ),
      400,
    ],
    ['NUL in a text', JSON.stringify(draftBody({ note: 'a\0b' })), 400],
    ['NUL in the external id', JSON.stringify(draftBody({ externalId: 'a\0b' })), 400],
    ['NUL in a name of metadata', JSON.stringify(draftBody({ metadata: { 'a\0': 'x' } })), 400],
    [
      'NUL in a description',
      JSON.stringify(draftBody({ lines: [{ description: '\0', quantity: '1', unitPrice: '1' }] })),
      400,
    ],
    ['half of a surrogate pair', JSON.stringify(draftBody({ note: '\ud800' })), 400],
    [
      'half of a surrogate pair in the name',
      JSON.stringify(draftBody({ customer: { externalId: 'a', name: 'x\udfff' } })),
      400,
    ],
    ['an unknown field', JSON.stringify(draftBody({ surprise: true })), 400],
    [
      'an unknown field of a line',
      JSON.stringify(draftBody({ lines: [{ description: 'x', quantity: '1', unitPrice: '1', x: 1 }] })),
      400,
    ],
    ['__proto__', JSON.stringify(draftBody()).replace('{', '{"__proto__":{"isAdmin":true},'), 400],
    [
      '__proto__ in the metadata',
      JSON.stringify(draftBody({ metadata: 0 })).replace(
        '"metadata":0',
        '"metadata":{"__proto__":{"a":"b"}}',
      ),
      400,
    ],
    [
      'constructor.prototype',
      JSON.stringify(draftBody()).replace('{', '{"constructor":{"prototype":{"isAdmin":true}},'),
      400,
    ],
    ['names of Object.prototype', JSON.stringify(draftBody({ toString: 1, hasOwnProperty: 2 })), 400],
    [
      'a number with many digits',
      JSON.stringify(
        draftBody({ lines: [{ description: 'x', quantity: '9'.repeat(100_000), unitPrice: '1' }] }),
      ),
      400,
    ],
    [
      'a huge exponent',
      JSON.stringify(draftBody({ lines: [{ description: 'x', quantity: '1e999999', unitPrice: '1' }] })),
      400,
    ],
    [
      'amounts as JSON numbers',
      JSON.stringify(draftBody({ lines: [{ description: 'x', quantity: 1, unitPrice: 0.1 }] })),
      400,
    ],
  ];

  test.each(bodies)('%s as a draft', async (_what, body, status) => {
    await using world = await openHttpWorld();
    const answer = await world.call('POST', '/v1/invoices', { body });
    expect(answer.status, JSON.stringify(answer.body).slice(0, 500)).toBe(status);
    expectProblem(answer);
    expect(Reflect.get({}, 'isAdmin')).toBeUndefined();
  });

  test.each([
    ['no JSON', 'hello'],
    ['a list', '[]'],
    ['depth', '['.repeat(20_000) + ']'.repeat(20_000)],
    ['NUL', JSON.stringify({ externalId: 'a\0', name: 'x' })],
    ['half of a surrogate pair', JSON.stringify({ externalId: 'a', name: '\ud800' })],
    ['__proto__', '{"externalId":"a","name":"x","__proto__":{}}'],
  ])('%s as a customer', async (_what, body) => {
    await using world = await openHttpWorld();
    const answer = await world.call('POST', '/v1/customers', { body });
    expect(answer.status).toBe(400);
    expectProblem(answer);
  });

  test.each([
    ['GET', '/nowhere', 404],
    ['GET', '/v1/nowhere', 404],
    ['DELETE', '/v1/invoices', 404],
    ['PUT', '/v1/customers/ext:a', 404],
    ['GET', '/v1/invoices/%ff', 400],
    ['GET', '/v1/invoices/%', 400],
    ['GET', '/v1/invoices/ext:%ed%a0%80', 400],
    ['GET', '/v1/invoices/..%2f..%2fetc%2fpasswd', 400],
    ['GET', '/v1/invoices/__proto__', 400],

    ['GET', '/v1/invoices?__proto__=x', 400],
    ['GET', '/v1/invoices?constructor[prototype]=x', 400],
    ['GET', '/v1/invoices?cursor=%00', 400],
  ])('%s %s', async (method, path, status) => {
    await using world = await openHttpWorld();
    const answer = await world.call(method, path);
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    expectProblem(answer);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'nonsense',
  ])('a body of type %s', async (type) => {
    await using world = await openHttpWorld();
    const answer = await world.call('POST', '/v1/invoices', {
      body: 'a=b',
      headers: { 'content-type': type },
    });
    expect(answer.status).toBe(415);
    expectProblem(answer);
  });
});

describe('sizes', () => {
  test('a body of 100 MB is refused without being kept', async () => {
    await using world = await openHttpWorld();
    const answer = await world.call('POST', '/v1/invoices', { body: ' '.repeat(100 * MEBIBYTE) });
    expect(answer.status).toBe(413);
    expectProblem(answer);
  });

  test('so is one that does not say how long it is', async () => {
    await using world = await openHttpWorld();
    expect(await stream(world, 100 * MEBIBYTE)).toBe(413);
  });

  test('a body of 100 MB without a key is 401', async () => {
    await using world = await openHttpWorld();
    const answer = await world.call('POST', '/v1/invoices', { key: null, body: ' '.repeat(100 * MEBIBYTE) });
    expect(answer.status).toBe(401);
  });

  test('an address with an endless id is 414', async () => {
    await using world = await openHttpWorld();
    const answer = await world.call('GET', `/v1/invoices/ext:${'x'.repeat(5_000)}`);
    expect(answer.status).toBe(414);
    expectProblem(answer);
  });

  test('what is no draft may not be as large as one', async () => {
    await using world = await openHttpWorld();
    const answer = await world.call('POST', '/v1/customers', { body: ' '.repeat(MEBIBYTE) });
    expect(answer.status).toBe(413);
  });
});

describe('faults of ours', () => {
  test('an unknown error is 500 without details, and is logged', async () => {
    await using world = await openHttpWorld({
      createDraft: async () => {
        throw new Error('password=hunter2 in SELECT secret FROM table');
      },
    });
    const answer = await world.call('POST', '/v1/invoices', { body: draftBody() });
    expect(answer.status).toBe(500);
    expectProblem(answer);
    expect(JSON.stringify(answer.body)).not.toMatch(/hunter2|SELECT/);
    expect(JSON.stringify(world.logLines)).toContain('hunter2');
  });

  test.each([
    ['Prisma cannot reach Postgres', Object.assign(new Error('at db:5432'), { code: 'P1001' })],
    ['the pool has no connection left', Object.assign(new Error('at db:5432'), { code: 'P2024' })],
    [
      'the connection is refused',
      new Error('x', { cause: Object.assign(new Error('at db:5432'), { code: 'ECONNREFUSED' }) }),
    ],
    ['our own word for it', new BillingError('unavailable', 'Postgres cannot be reached at db:5432')],
  ])('%s: 503, and when to come back', async (_what, error) => {
    await using world = await openHttpWorld({
      createDraft: async () => {
        throw error;
      },
    });
    const answer = await world.call('POST', '/v1/invoices', { body: draftBody() });
    expect(answer.status).toBe(503);
    expectProblem(answer);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(JSON.stringify(answer.body)).not.toContain('5432');
  });

  test('something thrown that is no error is 500 too', async () => {
    await using world = await openHttpWorld({ createDraft: () => Promise.reject('just a text') });
    const answer = await world.call('POST', '/v1/invoices', { body: draftBody() });
    expect(answer.status).toBe(500);
    expectProblem(answer);
  });
});

describe('the log', () => {
  test('has one line per request, without body, headers, address or personal data', async () => {
    await using world = await openHttpWorld();
    await world.call('POST', '/v1/invoices', { body: draftBody() });
    await world.call('GET', '/v1/invoices/ext:order-1?');
    await world.call('GET', '/v1/invoices', { key: 'bo_wrong' });
    const lines = world.logLines.filter((line) => line.msg === 'request');
    expect(lines).toMatchObject([
      { method: 'POST', route: '/v1/invoices', status: 201, caller: 'admin' },
      { method: 'GET', route: '/v1/invoices/:id', status: 200, caller: 'admin' },
      { method: 'GET', route: '/v1/invoices', status: 401 },
    ]);
    expect(JSON.stringify(world.logLines)).not.toMatch(/acme|order-1|bo_|Bearer|127\.0\.0\.1:\d+\//i);
  });

  test('survives bytes that are no HTTP', async () => {
    await using world = await openHttpWorld();
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(world.url).port), '127.0.0.1', () =>
        socket.write('\0\x01\x02 nonsense\r\n\r\n'),
      );
      socket.once('data', (data) => resolve(String(data)));
      socket.once('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400/);
    expect((await world.call('GET', '/healthz')).status).toBe(200);
  });
});

function expectProblem(answer: Answer): void {
  expect(answer.headers.get('content-type')).toContain('application/problem+json');
  expect(answer.body).toEqual({
    type: expect.stringMatching(/^urn:billonce:problem:/),
    title: expect.any(String),
    status: answer.status,
    code: expect.any(String),
    detail: expect.any(String),
    errors: expect.any(Array),
  });
}

/** Chunked, by somebody who sends everything before reading; the answer's status. A reset fails it. */
async function stream(world: HttpWorld, bytes: number): Promise<number> {
  const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
  const answered = once(socket, 'data');
  socket.write(
    `POST /v1/invoices HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEYS.admin}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
  );
  const chunk = Buffer.from(`10000\r\n${' '.repeat(0x10000)}\r\n`);
  for (let sent = 0; sent < bytes; sent += 0x10000) {
    if (!socket.write(chunk)) await once(socket, 'drain', { signal: AbortSignal.timeout(4_000) });
  }
  socket.end('0\r\n\r\n');
  const [data] = await answered;
  return Number(String(data).split(' ')[1]);
}
