/**
 * What the operations rely on in any gateway. Each adapter passes this suite against a real server of its kind; the
 * factory says which payment methods make that server misbehave, and how to ask it what really happened.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { BillingError } from '../../src/errors.ts';
import type { CaptureOutcome, CaptureRequest, Gateway, GatewayCapture } from '../../src/operations/ports.ts';

/** The faults that every gateway's stand-in can produce, by the names of the sandbox. */
export type ContractFault =
  | 'ok'
  | 'ok_lost_reply'
  | 'slow'
  | 'not_executed'
  | 'decline_retry'
  | 'decline_act'
  | 'decline_stop';

export interface ContractWorld extends AsyncDisposable {
  gateway: Gateway;
  paymentMethods: Readonly<Record<ContractFault, string>>;
  /** The next call with this key is answered so, with nothing executed. */
  answerNext(key: string, answer: { status: number; retryAfter?: string; rawBody?: string }): void;
  /** The next call with this key is held before anything is executed. */
  holdNext(key: string): { held: Promise<void>; release(): void };
  /** How many calls with this key have reached the server. */
  sends(key: string): Promise<number>;
  /** How often money was really moved under this key. */
  captures(key: string): Promise<number>;
  /** From now on nobody listens at the gateway's address. */
  goAway(): Promise<void>;
}

export type OpenContractWorld = (options?: { timeoutMs?: number }) => Promise<ContractWorld>;

const DEADLINE_MS = 5_000;

export function gatewayContract(name: string, open: OpenContractWorld): void {
  describe(`${name} as a gateway`, () => {
    describe('a capture that goes well', () => {
      test('is echoed as it was sent, with a reference', async () => {
        await using world = await open();
        const request = captureRequest(world, 'ok', { amountMinor: 123_456_789_012n, currency: 'JPY' });

        const outcome = await world.gateway.capture(request);

        expect(outcome).toEqual({
          kind: 'captured',
          reference: expect.stringMatching(/./),
          echo: {
            account: world.gateway.account,
            paymentId: request.metadata.paymentId,
            amountMinor: 123_456_789_012n,
            currency: 'JPY',
          },
        });
        expect(await world.captures(request.gatewayKey)).toBe(1);
      });

      test('run twice with one key is one capture and the same answer', async () => {
        await using world = await open();
        const request = captureRequest(world, 'ok');

        const first = await world.gateway.capture(request);
        const second = await world.gateway.capture(request);

        expect(second).toEqual(first);
        expect(await world.sends(request.gatewayKey)).toBe(2);
        expect(await world.captures(request.gatewayKey)).toBe(1);
      });

      test('needs no customer at the gateway', async () => {
        await using world = await open();
        const request = captureRequest(world, 'ok', { gatewayCustomer: null });
        expect(await world.gateway.capture(request)).toMatchObject({ kind: 'captured' });
      });

      test('does not mix up calls that run at the same time', async () => {
        await using world = await open();
        const requests = Array.from({ length: 40 }, (_, at) =>
          captureRequest(world, 'ok', { amountMinor: BigInt(at + 1) }),
        );

        const outcomes = await Promise.all(requests.map((request) => world.gateway.capture(request)));

        expect(outcomes.map(echoOf)).toEqual(
          requests.map(({ amountMinor, metadata }) => ({ amountMinor, paymentId: metadata.paymentId })),
        );
      });
    });

    describe('a reply that is missing', () => {
      test('leaves the outcome unknown, and the same key finds the capture that was made', async () => {
        await using world = await open();
        const request = captureRequest(world, 'ok_lost_reply');

        expect(await world.gateway.capture(request)).toMatchObject({ kind: 'unknown' });
        expect(await world.captures(request.gatewayKey)).toBe(1);

        expect(await world.gateway.capture(request)).toMatchObject({ kind: 'captured' });
        expect(await world.captures(request.gatewayKey)).toBe(1);
      });

      test('looks the same if nothing was executed, and the same key makes the capture', async () => {
        await using world = await open();
        const lost = captureRequest(world, 'ok_lost_reply');
        const cut = captureRequest(world, 'not_executed');

        const outcome = await world.gateway.capture(cut);

        expect(outcome).toMatchObject({ kind: 'unknown' });
        expect(outcome).toEqual(await world.gateway.capture(lost));
        expect(await world.captures(cut.gatewayKey)).toBe(0);
        expect(await world.gateway.capture(cut)).toMatchObject({ kind: 'captured' });
        expect(await world.captures(cut.gatewayKey)).toBe(1);
      });

      test('is not asked for again behind our back', async () => {
        await using world = await open();
        await world.gateway.capture(captureRequest(world, 'ok')); // leaves a connection to be used again
        const request = captureRequest(world, 'ok_lost_reply');

        await world.gateway.capture(request);

        expect(await world.sends(request.gatewayKey)).toBe(1);
      });

      test('is unknown after the time limit, though the capture is made later', async () => {
        await using world = await open({ timeoutMs: 400 });
        const request = captureRequest(world, 'slow');

        expect(await world.gateway.capture(request)).toEqual({ kind: 'unknown', reason: 'timeout' });
        expect(await world.gateway.capture(request)).toEqual({ kind: 'key_in_use' });

        await eventually(async () => expect(await world.captures(request.gatewayKey)).toBe(1));
        expect(await world.gateway.capture(request)).toMatchObject({ kind: 'captured' });
        expect(await world.captures(request.gatewayKey)).toBe(1);
      });
    });

    describe('a call that is aborted', () => {
      test('after it was handed over is unknown at once', async () => {
        await using world = await open();
        const request = captureRequest(world, 'ok');
        const { held, release } = world.holdNext(request.gatewayKey);
        const abort = new AbortController();
        const outcome = world.gateway.capture(request, { signal: abort.signal });
        await held;

        abort.abort();

        expect(await outcome).toEqual({ kind: 'unknown', reason: 'aborted' });
        release();
        await eventually(async () => expect(await world.captures(request.gatewayKey)).toBe(1));
      });

      test('before it was made is certainly not executed', async () => {
        await using world = await open();
        const request = captureRequest(world, 'ok');
        expect(await world.gateway.capture(request, { signal: AbortSignal.abort() })).toEqual({
          kind: 'not_executed',
          reason: 'aborted',
        });
        expect(await world.sends(request.gatewayKey)).toBe(0);
      });
    });

    describe('a decline', () => {
      test.each([
        ['decline_retry', 'retry_later'],
        ['decline_act', 'customer_must_act'],
        ['decline_stop', 'stop'],
      ] as const)(
        'made by %s has the class %s, moves no money, and is the same when asked again',
        async (fault, declineClass) => {
          await using world = await open();
          const request = captureRequest(world, fault);

          const outcome = await world.gateway.capture(request);

          expect(outcome).toEqual({
            kind: 'declined',
            reference: expect.stringMatching(/./),
            declineCode: expect.stringMatching(/^[a-z_]+$/),
            declineClass,
          });
          expect(await world.gateway.capture(request)).toEqual(outcome);
          expect(await world.captures(request.gatewayKey)).toBe(0);
        },
      );
    });

    describe('an answer that is no verdict', () => {
      test.each([400, 401, 403, 404, 413, 422])('%i is ours to fix', async (status) => {
        expect(await outcomeOf(open, { status })).toEqual({
          kind: 'ours_to_fix',
          reason: expect.stringContaining(`http_${status}`),
        });
      });

      test.each([500, 502, 503, 504, 408, 302])('%i leaves the outcome unknown', async (status) => {
        expect(await outcomeOf(open, { status })).toEqual({
          kind: 'unknown',
          reason: expect.stringContaining(`http_${status}`),
        });
      });

      test('409 is a key in use', async () => {
        expect(await outcomeOf(open, { status: 409 })).toEqual({ kind: 'key_in_use' });
      });

      test.each([
        ['7', 7_000],
        ['0', 0],
      ])(
        '429 with Retry-After %s is not executed, and says when to come back',
        async (retryAfter, retryAfterMs) => {
          const outcome = await outcomeOf(open, { status: 429, retryAfter });
          expect(outcome).toMatchObject({ kind: 'not_executed', retryAfterMs });
        },
      );

      test('429 may name a date', async () => {
        const retryAfter = new Date(Date.now() + 60_000).toUTCString();
        const outcome = await outcomeOf(open, { status: 429, retryAfter });
        expect(outcome.kind === 'not_executed' && outcome.retryAfterMs).toBeGreaterThan(50_000);
        expect(outcome.kind === 'not_executed' && outcome.retryAfterMs).toBeLessThanOrEqual(60_000);
      });

      test.each([undefined, 'soon'])('429 with Retry-After %s leaves the time to us', async (retryAfter) => {
        const outcome = await outcomeOf(open, { status: 429, ...(retryAfter ? { retryAfter } : {}) });
        expect(outcome).toEqual({ kind: 'not_executed', reason: expect.stringContaining('http_429') });
      });

      test.each(['', 'no JSON', '[]', '{"id":"x","status":"captured"}'])(
        '200 with the body %j leaves the outcome unknown',
        async (rawBody) => {
          expect(await outcomeOf(open, { status: 200, rawBody })).toEqual({
            kind: 'unknown',
            reason: 'unreadable_reply',
          });
        },
      );

      test('does not stop the same key from being captured afterwards', async () => {
        await using world = await open();
        const request = captureRequest(world, 'ok');
        world.answerNext(request.gatewayKey, { status: 500 });
        world.answerNext(request.gatewayKey, { status: 429 });

        const kinds = [];
        for (let call = 0; call < 3; call += 1) kinds.push((await world.gateway.capture(request)).kind);

        expect(kinds).toEqual(['unknown', 'not_executed', 'captured']);
      });
    });

    describe('a key', () => {
      test('with other parameters is refused, and is ours to fix', async () => {
        await using world = await open();
        const request = captureRequest(world, 'ok', { amountMinor: 100n });
        await world.gateway.capture(request);

        const outcome = await world.gateway.capture({ ...request, amountMinor: 101n });

        expect(outcome).toMatchObject({ kind: 'ours_to_fix' });
        expect(await world.captures(request.gatewayKey)).toBe(1);
      });

      test('whose first call is still executing is in use', async () => {
        await using world = await open();
        const request = captureRequest(world, 'ok');
        const { held, release } = world.holdNext(request.gatewayKey);
        const first = world.gateway.capture(request);
        await held;

        expect(await world.gateway.capture(request)).toEqual({ kind: 'key_in_use' });

        release();
        expect(await first).toMatchObject({ kind: 'captured' });
        expect(await world.captures(request.gatewayKey)).toBe(1);
      });

      test('that cannot be sent at all is ours to fix', async () => {
        await using world = await open();
        const request = captureRequest(world, 'ok', { gatewayKey: 'two\nlines' });
        expect(await world.gateway.capture(request)).toMatchObject({ kind: 'ours_to_fix' });
      });
    });

    describe('an unknown payment method', () => {
      test('is ours to fix', async () => {
        await using world = await open();
        const request = captureRequest(world, 'ok', { paymentMethod: 'pm_that_nobody_knows' });
        expect(await world.gateway.capture(request)).toMatchObject({ kind: 'ours_to_fix' });
      });
    });

    describe('the ledger', () => {
      test('lists captures with key, time and metadata, oldest first, and no declines', async () => {
        await using world = await open();
        const before = new Date(Date.now() - 1_000);
        const first = captureRequest(world, 'ok', { amountMinor: 1n });
        const second = captureRequest(world, 'ok', { amountMinor: 2n, currency: 'KWD' });
        const references: string[] = [];
        for (const request of [first, captureRequest(world, 'decline_stop'), second]) {
          references.push(referenceOf(await world.gateway.capture(request)));
        }

        const listed = (await list(world.gateway)).filter(({ reference }) => references.includes(reference));

        expect(listed).toEqual(
          [first, second].map(({ gatewayKey, amountMinor, currency, metadata }, at) => ({
            reference: references[at * 2],
            gatewayKey,
            amountMinor,
            currency,
            capturedAt: expect.any(Date),
            metadata,
          })),
        );
        for (const { capturedAt } of listed) {
          expect(capturedAt.getTime()).toBeGreaterThanOrEqual(before.getTime());
          expect(capturedAt.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
        }
      });

      test('leaves out what was captured before the time asked for', async () => {
        await using world = await open();
        await world.gateway.capture(captureRequest(world, 'ok'));
        expect(await list(world.gateway, new Date(Date.now() + 3_600_000))).toEqual([]);
      });
    });

    describe('a gateway that is not there', () => {
      test('has certainly not executed a capture', async () => {
        await using world = await open();
        await world.gateway.capture(captureRequest(world, 'ok'));
        await world.goAway();
        expect(await world.gateway.capture(captureRequest(world, 'ok'))).toEqual({
          kind: 'not_executed',
          reason: 'ECONNREFUSED',
        });
      });

      test('is reported by ping and by the ledger in one sentence with its address', async () => {
        await using world = await open();
        await world.gateway.ping();
        await world.goAway();
        for (const ask of [world.gateway.ping(), list(world.gateway)]) {
          const error = await ask.then(
            () => null,
            (reason: unknown) => reason,
          );
          expect(error).toBeInstanceOf(BillingError);
          expect(error).toMatchObject({
            code: 'unavailable',
            message: expect.stringMatching(/127\.0\.0\.1:\d+.*ECONNREFUSED/),
          });
        }
      });

      test('after close, a capture is certainly not executed', async () => {
        await using world = await open();
        await world.gateway.close();
        expect(await world.gateway.capture(captureRequest(world, 'ok'))).toMatchObject({
          kind: 'not_executed',
        });
      });
    });
  });
}

export function captureRequest(
  { paymentMethods }: Pick<ContractWorld, 'paymentMethods'>,
  fault: ContractFault,
  changes: Partial<CaptureRequest> = {},
): CaptureRequest {
  const paymentId = randomUUID();
  return {
    gatewayKey: `billonce-${paymentId}`,
    amountMinor: 1_234n,
    currency: 'EUR',
    gatewayCustomer: 'cus_1',
    paymentMethod: paymentMethods[fault],
    descriptor: 'ACME INVOICE',
    metadata: { paymentId, invoiceId: randomUUID(), externalId: 'order 7', number: 'INV-2025-000007' },
    ...changes,
  };
}

async function outcomeOf(
  open: OpenContractWorld,
  answer: Parameters<ContractWorld['answerNext']>[1],
): Promise<CaptureOutcome> {
  await using world = await open();
  const request = captureRequest(world, 'ok');
  world.answerNext(request.gatewayKey, answer);
  const outcome = await world.gateway.capture(request);
  expect(await world.captures(request.gatewayKey)).toBe(0);
  return outcome;
}

function echoOf(outcome: CaptureOutcome) {
  return outcome.kind === 'captured'
    ? { amountMinor: outcome.echo.amountMinor, paymentId: outcome.echo.paymentId }
    : outcome;
}

function referenceOf(outcome: CaptureOutcome): string {
  return 'reference' in outcome ? outcome.reference : '';
}

async function list(gateway: Gateway, since?: Date): Promise<GatewayCapture[]> {
  const captures: GatewayCapture[] = [];
  for await (const capture of gateway.listCaptures(since ? { since } : {})) captures.push(capture);
  return captures;
}

async function eventually(check: () => Promise<void>): Promise<void> {
  await vi.waitFor(check, { timeout: DEADLINE_MS, interval: 20 });
}
