import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { scriptedCalls } from '../../src/demo/sandbox-gateway/scripted-calls.ts';
import { buildSandboxGateway } from '../../src/demo/sandbox-gateway/server.ts';
import { openSandboxGateway } from '../../src/gateways/sandbox.ts';
import type { GatewayCapture } from '../../src/operations/ports.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { type ContractWorld, captureRequest, gatewayContract } from './gateway-contract.ts';

gatewayContract('the sandbox', openWorld);

const paymentMethods = {
  ok: 'pm_ok',
  ok_lost_reply: 'pm_ok_lost_reply',
  slow: 'pm_slow',
  not_executed: 'pm_not_executed',
  decline_retry: 'pm_decline_retry',
  decline_act: 'pm_decline_act',
  decline_stop: 'pm_decline_stop',
};

async function openWorld({ timeoutMs = 5_000 } = {}): Promise<ContractWorld & { url: string }> {
  const scripts = scriptedCalls();
  const server = await buildSandboxGateway({ scripts, slowMs: 1_500 });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  const gateway = openSandboxGateway({ baseUrl: url, timeoutMs });
  const calls = async (key: string): Promise<{ sends: number; captures: number }> => {
    const reply = await server.inject({ url: '/v1/calls', query: { key } });
    return reply.json();
  };
  return {
    url,
    gateway,
    paymentMethods,
    answerNext: (key, answer) => scripts.next(key, { kind: 'answer', ...answer }),
    holdNext: (key) => {
      scripts.next(key, { kind: 'hold', executes: false });
      return { held: scripts.held(key), release: () => scripts.release(key) };
    },
    sends: async (key) => (await calls(key)).sends,
    captures: async (key) => (await calls(key)).captures,
    goAway: () => server.close(),
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await server.close();
    },
  };
}

describe('the sandbox adapter', () => {
  test('tells a connection that was reset after the request from one that was refused', async () => {
    await using world = await openWorld();
    const proxy = await startTcpProxy({ port: Number(new URL(world.url).port) });
    const gateway = openSandboxGateway({ baseUrl: `http://127.0.0.1:${proxy.port}` });
    const request = captureRequest({ paymentMethods }, 'ok');

    proxy.cutAtNextReply();
    expect(await gateway.capture(request)).toEqual({
      kind: 'unknown',
      reason: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/),
    });
    expect(await world.captures(request.gatewayKey)).toBe(1);
    expect(await world.sends(request.gatewayKey)).toBe(1);

    await proxy.stop();
    expect(await gateway.capture(request)).toEqual({ kind: 'not_executed', reason: 'ECONNREFUSED' });
    expect(await world.sends(request.gatewayKey)).toBe(1);
    await gateway.close();
  });

  test('calls a name that nobody knows not executed', async () => {
    const gateway = openSandboxGateway({ baseUrl: 'http://gateway.invalid' });
    expect(await gateway.capture(captureRequest({ paymentMethods }, 'ok'))).toEqual({
      kind: 'not_executed',
      reason: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/),
    });
    await gateway.close();
  });

  test('never sends a call that was given up while it waited for a connection', async () => {
    await using world = await openWorld();
    const gateway = openSandboxGateway({ baseUrl: world.url, connectionsMax: 1 });
    const first = captureRequest({ paymentMethods }, 'ok');
    const second = captureRequest({ paymentMethods }, 'ok');
    const { held, release } = world.holdNext(first.gatewayKey);
    const firstOutcome = gateway.capture(first);
    await held;
    const abort = new AbortController();
    const secondOutcome = gateway.capture(second, { signal: abort.signal });

    abort.abort();
    expect(await secondOutcome).toEqual({ kind: 'not_executed', reason: 'aborted' });
    release();
    expect(await firstOutcome).toMatchObject({ kind: 'captured' });

    await gateway.ping(); // the same connection, so whatever waited for it has had its turn
    expect(await world.sends(second.gatewayKey)).toBe(0);
    await gateway.close();
  });

  test('does not repeat a call by itself when a kept connection dies under it', async () => {
    await using server = await startRawServer((requestNo, socket) => {
      if (requestNo === 1) socket.write(httpReply(200, '{"status":"ok"}'));
      else socket.resetAndDestroy();
    });
    const gateway = openSandboxGateway({ baseUrl: server.url, connectionsMax: 1 });
    await gateway.ping();

    const outcome = await gateway.capture(captureRequest({ paymentMethods }, 'ok'));

    expect(outcome).toMatchObject({ kind: 'unknown' });
    expect(server.requests()).toBe(2);
    expect(server.connections()).toBe(1);
    await gateway.close();
  });

  test('leaves a reply unknown that breaks off in its middle', async () => {
    await using server = await startRawServer((_requestNo, socket) => {
      socket.write(httpReply(200, '{"id":"cap_1","status":"captured"}').slice(0, -5));
      socket.end();
    });
    const gateway = openSandboxGateway({ baseUrl: server.url });
    expect(await gateway.capture(captureRequest({ paymentMethods }, 'ok'))).toMatchObject({
      kind: 'unknown',
    });
    await gateway.close();
  });

  test('leaves a reply unknown that never comes to its end', async () => {
    await using server = await startRawServer((_requestNo, socket) => {
      socket.write(httpReply(200, '{"id":"cap_1","status":"captured"}').slice(0, -5));
    });
    const gateway = openSandboxGateway({ baseUrl: server.url, timeoutMs: 400 });
    const outcome = await gateway.capture(captureRequest({ paymentMethods }, 'ok'));
    expect(outcome).toEqual({ kind: 'unknown', reason: 'timeout' });
    await gateway.close();
  });

  const object = {
    id: 'cap_1',
    account: 'acct_sandbox',
    amountMinor: '1',
    currency: 'EUR',
    idempotencyKey: 'k',
    createdAt: '2025-01-02T03:04:05.678Z',
    metadata: {},
  };
  test.each([
    [
      { ...object, status: 'reviewing' },
      { kind: 'processing', reference: 'cap_1', statusWord: 'reviewing' },
    ],
    [
      { ...object, status: 'requires_action', actionUrl: 'https://bank.example/confirm' },
      { kind: 'requires_action', reference: 'cap_1', actionUrl: 'https://bank.example/confirm' },
    ],
    [
      { ...object, status: 'declined', declineCode: 'lost_card' },
      { kind: 'declined', reference: 'cap_1', declineCode: 'lost_card', declineClass: 'stop' },
    ],
    [
      { ...object, status: 'captured', account: 'acct_other' },
      {
        kind: 'captured',
        reference: 'cap_1',
        echo: { account: 'acct_other', paymentId: '', amountMinor: 1n, currency: 'EUR' },
      },
    ],
  ])('reads the object %j', async (body, outcome) => {
    await using world = await openWorld();
    const request = captureRequest(world, 'ok');
    world.answerNext(request.gatewayKey, { status: 200, rawBody: JSON.stringify(body) });
    expect(await world.gateway.capture(request)).toEqual(outcome);
  });

  test.each([
    [
      '{"error":{"code":"declined","declineCode":"never_heard_of","capture":{"id":"cap_1"}}}',
      'never_heard_of',
    ],
    ['{"error":{"code":"declined","capture":{"id":"cap_1"}}}', 'unspecified'],
  ])(
    'tries a card again later if the reason of the decline %j is not known',
    async (rawBody, declineCode) => {
      await using world = await openWorld();
      const request = captureRequest(world, 'ok');
      world.answerNext(request.gatewayKey, { status: 402, rawBody });
      const outcome = await world.gateway.capture(request);
      expect(outcome).toEqual({
        kind: 'declined',
        reference: 'cap_1',
        declineCode,
        declineClass: 'retry_later',
      });
    },
  );

  test('leaves a 402 unknown that does not say what was declined', async () => {
    await using world = await openWorld();
    const request = captureRequest(world, 'ok');
    world.answerNext(request.gatewayKey, { status: 402, rawBody: '<html>payment required</html>' });
    expect(await world.gateway.capture(request)).toEqual({ kind: 'unknown', reason: 'unreadable_reply' });
  });

  test('reads a ledger of several pages', async () => {
    await using world = await openWorld();
    const requests = Array.from({ length: 1_201 }, () => captureRequest(world, 'ok'));
    await Promise.all(requests.map((request) => world.gateway.capture(request)));

    const listed: GatewayCapture[] = [];
    for await (const capture of world.gateway.listCaptures()) listed.push(capture);

    expect(listed.map(({ gatewayKey }) => gatewayKey).sort()).toEqual(
      requests.map(({ gatewayKey }) => gatewayKey).sort(),
    );
  });

  test.each(['', 'not a url', 'ftp://127.0.0.1'])('refuses the address %j', (baseUrl) => {
    expect(() => openSandboxGateway({ baseUrl })).toThrow(expect.objectContaining({ code: 'configuration' }));
  });
});

/** A server that counts what arrives and answers as it is told. Requests here fit into one packet. */
async function startRawServer(onRequest: (requestNo: number, socket: Socket) => void) {
  const sockets = new Set<Socket>();
  let connections = 0;
  let requests = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', () => {
      requests += 1;
      onRequest(requests, socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function httpReply(status: number, body: string): string {
  return `HTTP/1.1 ${status} OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
