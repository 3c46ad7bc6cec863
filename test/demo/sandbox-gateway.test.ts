import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { KEY_LIFE_MS } from '../../src/demo/sandbox-gateway/idempotency.ts';
import { scriptedCalls } from '../../src/demo/sandbox-gateway/scripted-calls.ts';
import { buildSandboxGateway, type SandboxGatewayOptions } from '../../src/demo/sandbox-gateway/server.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

describe('a capture', () => {
  test('is answered with the object that the ledger then has', async () => {
    const { post, get } = await openGateway();
    const body = captureBody({ amountMinor: '5', currency: 'KWD' });

    const reply = await post('key-1', body);

    expect(reply.status).toBe(200);
    expect(reply.json).toEqual({
      ...body,
      id: expect.stringMatching(/^cap_[0-9a-f]{24}$/),
      status: 'captured',
      declineCode: null,
      account: 'acct_sandbox',
      idempotencyKey: 'key-1',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect((await get(`/v1/captures/${reply.json.id}`)).json).toEqual(reply.json);
  });

  test('is replayed for the same key and parameters, in whatever order they are written', async () => {
    const { post } = await openGateway();
    const body = captureBody({ metadata: { a: '1', b: '2' } });
    const first = await post('key', body);

    const second = await post(
      'key',
      Object.fromEntries(Object.entries({ ...body, metadata: { b: '2', a: '1' } }).reverse()),
    );

    expect(first.headers.has('idempotent-replayed')).toBe(false);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.json).toEqual(first.json);
  });

  test.each([
    [{ amountMinor: '0' }, 'parameter_invalid'],
    [{ amountMinor: '-1' }, 'parameter_invalid'],
    [{ amountMinor: '1.5' }, 'parameter_invalid'],
    [{ amountMinor: 100 }, 'parameter_invalid'],
    [{ currency: 'eur' }, 'parameter_invalid'],
    [{ descriptor: 'ACME' }, 'parameter_invalid'],
    [{ descriptor: 'ACMÉ INVOICE' }, 'parameter_invalid'],
    [{ surprise: true }, 'parameter_invalid'],
    [{ paymentMethod: 'pm_card_visa' }, 'unknown_payment_method'],
    [{ paymentMethod: 'pm_constructor' }, 'unknown_payment_method'],
    [{ paymentMethod: 'ok' }, 'unknown_payment_method'],
  ])('with %j is refused, and binds its key to nothing', async (changes, code) => {
    const { post } = await openGateway();
    const refused = await post('key', captureBody(changes));
    expect([refused.status, refused.json.error.code]).toEqual([400, code]);
    expect((await post('key', captureBody())).status).toBe(200);
  });

  test('without a key is refused', async () => {
    const { url } = await openGateway();
    const reply = await fetch(`${url}/v1/captures`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(captureBody()),
    });
    expect([reply.status, await reply.json()]).toMatchObject([
      400,
      { error: { code: 'idempotency_key_invalid' } },
    ]);
  });

  test('that is no JSON is refused in the same words as everything else', async () => {
    const { url } = await openGateway();
    const reply = await fetch(`${url}/v1/captures`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'key' },
      body: '{',
    });
    expect([reply.status, await reply.json()]).toMatchObject([400, { error: { code: 'request_invalid' } }]);
  });
});

describe('a key', () => {
  test('is remembered for 24 hours and then forgotten, with its count of calls', async () => {
    let nowMs = Date.UTC(2025, 0, 1);
    const { post, get } = await openGateway({ now: () => new Date(nowMs) });
    const first = await post('key', captureBody());

    nowMs += KEY_LIFE_MS - 1;
    expect((await post('key', captureBody())).json).toEqual(first.json);
    nowMs += 1;
    const later = await post('key', captureBody());

    expect(later.json.id).not.toBe(first.json.id);
    expect((await get('/v1/calls?key=key')).json).toEqual({ key: 'key', sends: 1, captures: 2, held: false });
    expect((await get('/v1/ledger/summary')).json).toMatchObject({
      captures: 2,
      duplicateCaptures: 1,
      duplicates: [{ idempotencyKey: 'key', captures: 2 }],
    });
  });

  test('with other parameters is refused, whatever the first answer was', async () => {
    const { post } = await openGateway();
    await post('key', captureBody({ paymentMethod: 'pm_decline_stop' }));
    const other = await post('key', captureBody({ paymentMethod: 'pm_ok' }));
    expect([other.status, other.json.error.code]).toEqual([400, 'parameter_mismatch']);
  });

  test('is in use while its first call executes, and belongs to that one', async () => {
    const scripts = scriptedCalls();
    const { post } = await openGateway({ scripts });
    scripts.next('key', { kind: 'hold', executes: false });
    const first = post('key', captureBody());
    await scripts.held('key');

    expect((await post('key', captureBody())).status).toBe(409);
    expect((await post('key', captureBody({ amountMinor: '9' }))).json.error.code).toBe('parameter_mismatch');

    scripts.release('key');
    expect((await first).status).toBe(200);
  });

  test('has its answer already while only the reply is held', async () => {
    const scripts = scriptedCalls();
    const { post } = await openGateway({ scripts });
    scripts.next('key', { kind: 'hold', executes: true });
    const first = post('key', captureBody());
    await scripts.held('key');

    const second = await post('key', captureBody());

    scripts.release('key');
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect((await first).json).toEqual(second.json);
  });
});

describe('the faults', () => {
  test('pm_ok_lost_reply executes and cuts the first call, and answers the second', async () => {
    const { post, get } = await openGateway();
    const body = captureBody({ paymentMethod: 'pm_ok_lost_reply' });
    await expect(post('key', body)).rejects.toThrow();
    expect((await get('/v1/calls?key=key')).json).toMatchObject({ sends: 1, captures: 1 });
    expect((await post('key', body)).headers.get('idempotent-replayed')).toBe('true');
  });

  test('pm_not_executed cuts the first call and executes the second', async () => {
    const { post, get } = await openGateway();
    const body = captureBody({ paymentMethod: 'pm_not_executed' });
    await expect(post('key', body)).rejects.toThrow();
    expect((await get('/v1/calls?key=key')).json).toMatchObject({ sends: 1, captures: 0 });
    expect((await post('key', body)).headers.has('idempotent-replayed')).toBe(false);
  });

  test.each([
    ['pm_decline_retry', 'insufficient_funds'],
    ['pm_decline_act', 'expired_card'],
    ['pm_decline_stop', 'stolen_card'],
  ])('%s declines with %s, which is stored', async (paymentMethod, declineCode) => {
    const { post, get } = await openGateway();
    const first = await post('key', captureBody({ paymentMethod }));
    expect(first.status).toBe(402);
    expect(first.json.error).toMatchObject({
      code: 'declined',
      declineCode,
      capture: { status: 'declined' },
    });
    const second = await post('key', captureBody({ paymentMethod }));
    expect([second.status, second.json]).toEqual([402, first.json]);
    expect((await get('/v1/captures')).json.data).toEqual([]);
    expect((await get('/v1/attempts')).json.data).toEqual([first.json.error.capture]);
  });

  test('pm_seeded does the same for the same seed and key, in any order', async () => {
    const keys = Array.from({ length: 30 }, (_, at) => `key-${at}`);
    const runs = [];
    for (const order of [keys, keys.toReversed()]) {
      const { post } = await openGateway({ seed: 'a', slowMs: 1 });
      const ends = new Map<string, unknown>();
      for (const key of order) {
        const end = await post(key, captureBody({ paymentMethod: 'pm_seeded' })).then(
          ({ status }) => status,
          () => 'cut',
        );
        ends.set(key, end);
      }
      runs.push(keys.map((key) => ends.get(key)));
    }
    expect(runs[0]).toEqual(runs[1]);
    expect(new Set(runs[0])).toEqual(new Set([200, 402, 'cut']));
  });

  test('ordered by a test are used up in their order', async () => {
    const { post, get } = await openGateway({ scripts: scriptedCalls() });
    await get('/v1/test/faults', { key: 'key', script: { kind: 'answer', status: 429, retryAfter: '3' } });
    await get('/v1/test/faults', { key: 'key', script: { kind: 'cut', executes: true } });

    const limited = await post('key', captureBody());
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '3']);
    await expect(post('key', captureBody())).rejects.toThrow();
    expect((await post('key', captureBody())).headers.get('idempotent-replayed')).toBe('true');
  });

  test('cannot be ordered unless the gateway was opened for tests', async () => {
    const { get } = await openGateway();
    const order = { key: 'key', script: { kind: 'cut', executes: true } };
    expect((await get('/v1/test/faults', order)).status).toBe(404);
  });
});

describe('the ledger', () => {
  test('is paged by cursor, oldest first, without repeating or hiding what comes meanwhile', async () => {
    const { post, get } = await openGateway();
    for (let no = 1; no <= 5; no += 1) await post(`key-${no}`, captureBody({ amountMinor: String(no) }));

    const first = (await get('/v1/captures?limit=2')).json;
    await post('key-6', captureBody({ amountMinor: '6' }));
    const second = (await get(`/v1/captures?limit=2&cursor=${first.nextCursor}`)).json;
    const third = (await get(`/v1/captures?limit=2&cursor=${second.nextCursor}`)).json;

    const amounts = [first, second, third].map(({ data }) => data.map(amountOf));
    expect(amounts).toEqual([
      ['1', '2'],
      ['3', '4'],
      ['5', '6'],
    ]);
    expect(third.nextCursor).toBeNull();
  });

  test('is filtered by customer, time and metadata', async () => {
    let nowMs = Date.UTC(2025, 0, 1);
    const { post, get } = await openGateway({ now: () => new Date(nowMs) });
    await post('key-1', captureBody({ amountMinor: '1', customer: 'cus_a', metadata: { paymentId: 'p1' } }));
    nowMs += 1_000;
    await post('key-2', captureBody({ amountMinor: '2', customer: 'cus_b', metadata: { paymentId: 'p2' } }));

    const found = async (query: string) => (await get(`/v1/captures?${query}`)).json.data.map(amountOf);
    expect(await found('customer=cus_a')).toEqual(['1']);
    expect(await found('since=2025-01-01T00:00:01Z')).toEqual(['2']);
    expect(await found('since=2025-01-01T02:00:00%2B02:00')).toEqual(['1', '2']);
    expect(await found('metadata[paymentId]=p2')).toEqual(['2']);
    expect(await found('metadata[paymentId]=p2&customer=cus_a')).toEqual([]);
  });

  test.each(['limit=0', 'limit=1001', 'since=yesterday', 'cursor=cap_x'])('refuses %s', async (query) => {
    const { get } = await openGateway();
    const reply = await get(`/v1/captures?${query}`);
    expect([reply.status, reply.json.error.code]).toEqual([400, 'parameter_invalid']);
  });

  test('sums captures by currency and leaves declines out', async () => {
    const { post, get } = await openGateway();
    await post('key-1', captureBody({ amountMinor: '900000000000000000', currency: 'JPY' }));
    await post('key-2', captureBody({ amountMinor: '900000000000000001', currency: 'JPY' }));
    await post('key-3', captureBody({ amountMinor: '7', currency: 'EUR' }));
    await post('key-4', captureBody({ paymentMethod: 'pm_decline_stop' }));
    expect((await get('/v1/ledger/summary')).json).toEqual({
      attempts: 4,
      captures: 3,
      declines: 1,
      duplicateCaptures: 0,
      duplicates: [],
      capturedMinorByCurrency: { JPY: '1800000000000000001', EUR: '7' },
    });
  });
});

describe('the journal', () => {
  test('brings back ledger, keys and counts after a restart', async () => {
    const dataFile = join(await temporaryFolder(), 'ledger', 'journal.jsonl');
    const before = await openGateway({ dataFile });
    const captured = await before.post('key-1', captureBody());
    const declined = await before.post('key-2', captureBody({ paymentMethod: 'pm_decline_retry' }));
    await expect(before.post('key-3', captureBody({ paymentMethod: 'pm_not_executed' }))).rejects.toThrow();
    await before.post('key-1', captureBody());
    const books = await booksOf(before);
    await before.app.close();

    const after = await openGateway({ dataFile });

    expect(await booksOf(after)).toEqual(books);
    const replayed = await after.post('key-1', captureBody());
    expect([replayed.headers.get('idempotent-replayed'), replayed.json]).toEqual(['true', captured.json]);
    const declinedAgain = await after.post('key-2', captureBody({ paymentMethod: 'pm_decline_retry' }));
    expect(declinedAgain.json).toEqual(declined.json);
    expect((await after.post('key-3', captureBody({ paymentMethod: 'pm_not_executed' }))).status).toBe(200);
    expect((await after.get('/v1/calls?key=key-1')).json).toMatchObject({ sends: 3, captures: 1 });
  });

  test('keeps the age of keys over a restart', async () => {
    const dataFile = join(await temporaryFolder(), 'journal.jsonl');
    const startMs = Date.UTC(2025, 0, 1);
    const before = await openGateway({ dataFile, now: () => new Date(startMs) });
    const first = await before.post('key', captureBody());
    await before.app.close();

    const after = await openGateway({ dataFile, now: () => new Date(startMs + KEY_LIFE_MS) });

    expect((await after.post('key', captureBody())).json.id).not.toBe(first.json.id);
  });

  test('forgets a last line that was torn, and goes on behind the line before it', async () => {
    const dataFile = join(await temporaryFolder(), 'journal.jsonl');
    const before = await openGateway({ dataFile });
    await before.post('key-1', captureBody());
    await before.app.close();
    await appendFile(dataFile, '{"kind":"attempt","atMs":17');

    const after = await openGateway({ dataFile });
    await after.post('key-2', captureBody());
    await after.app.close();

    const lines = (await readFile(dataFile, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ attempt }) => attempt.idempotencyKey)).toEqual(['key-1', 'key-2']);
  });

  test('refuses to start on a line that it cannot read, since that would forget money', async () => {
    const dataFile = join(await temporaryFolder(), 'journal.jsonl');
    await appendFile(dataFile, '{"kind":"attempt"}\n');
    await expect(buildSandboxGateway({ dataFile })).rejects.toThrow(/journal\.jsonl:1 /);
  });
});

describe('the process', () => {
  test('killed with -9 under load, it has every capture that it answered after its restart', async () => {
    const dataFile = join(await temporaryFolder(), 'journal.jsonl');
    const { url, child } = await startProcess({ SANDBOX_DATA: dataFile });
    const answered = await captureUntilKilled(url, child, { callers: 30, killAfter: 300 });

    const again = await startProcess({ SANDBOX_DATA: dataFile });

    const { data } = (await ask(again.url, '/v1/captures?limit=1000')).json;
    const kept = new Set(data.map(({ id }: { id: string }) => id));
    expect(answered.filter((id) => !kept.has(id))).toEqual([]);
    expect(answered.length).toBeGreaterThanOrEqual(300);
  });

  test('lets a slow call end when it is told to stop', async () => {
    const { url, child } = await startProcess({ SANDBOX_SLOW_MS: '500', SANDBOX_TEST: '1' });
    const slow = postTo(url, 'key', captureBody({ paymentMethod: 'pm_slow' }));
    await vi.waitFor(async () => expect((await ask(url, '/v1/calls?key=key')).json.sends).toBe(1), {
      timeout: 5_000,
    });

    child.kill('SIGTERM');

    expect((await slow).status).toBe(200);
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('names a variable that it cannot use', async () => {
    const child = spawnGateway({ SANDBOX_PORT: 'http' });
    let said = '';
    child.stderr?.on('data', (text) => {
      said += text;
    });
    expect(await once(child, 'close')).toEqual([2, null]);
    expect(said).toContain('SANDBOX_PORT');
  });
});

async function openGateway(options: SandboxGatewayOptions = {}) {
  const app = await buildSandboxGateway(options);
  cleanUps.push(() => app.close());
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    app,
    url,
    post: (key: string, body: object) => postTo(url, key, body),
    get: (path: string, order?: object) => ask(url, path, order),
  };
}

function captureBody(changes: object = {}) {
  return {
    amountMinor: '1234',
    currency: 'EUR',
    customer: null,
    paymentMethod: 'pm_ok',
    descriptor: 'ACME INVOICE',
    metadata: { paymentId: 'p' },
    ...changes,
  };
}

async function postTo(url: string, key: string, body: object) {
  return read(
    await fetch(`${url}/v1/captures`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify(body),
    }),
  );
}

/** GET, or POST where there is something to say. */
async function ask(url: string, path: string, order?: object) {
  const post = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(order),
  };
  return read(await fetch(`${url}${path}`, order ? post : {}));
}

async function read(reply: Response) {
  const text = await reply.text();
  return { status: reply.status, headers: reply.headers, json: text === '' ? null : JSON.parse(text) };
}

function amountOf({ amountMinor }: { amountMinor: string }): string {
  return amountMinor;
}

async function booksOf({ get }: { app: FastifyInstance; get: (path: string) => Promise<{ json: unknown }> }) {
  const paths = ['/v1/attempts', '/v1/ledger/summary', '/v1/calls?key=key-1', '/v1/calls?key=key-3'];
  return Promise.all(paths.map(async (path) => (await get(path)).json));
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-gateway-'));
  cleanUps.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function startProcess(env: Record<string, string>) {
  const child = spawnGateway({ SANDBOX_PORT: '0', ...env });
  if (!child.stdout) throw new Error('the process has no output');
  for await (const line of createInterface({ input: child.stdout })) {
    return { child, url: String(JSON.parse(line).listening) };
  }
  throw new Error('the process ended before it listened');
}

/** @returns the ids of the captures that were answered */
async function captureUntilKilled(
  url: string,
  child: ChildProcess,
  load: { callers: number; killAfter: number },
) {
  const answered: string[] = [];
  const callers = Array.from({ length: load.callers }, async (_, caller) => {
    for (let no = 0; ; no += 1) {
      const reply = await postTo(url, `key-${caller}-${no}`, captureBody()).catch(() => null);
      if (!reply) return;
      answered.push(reply.json.id);
      if (answered.length === load.killAfter) child.kill('SIGKILL');
    }
  });
  await Promise.all(callers);
  return answered;
}

/** From the sources, so that no build is needed. */
function spawnGateway(env: Record<string, string>): ChildProcess {
  const main = fileURLToPath(new URL('../../src/demo/sandbox-gateway/main.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', main], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  cleanUps.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return child;
}
