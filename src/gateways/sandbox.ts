/** The sandbox gateway (`src/demo/sandbox-gateway/`) over HTTP. */
import { Pool } from 'undici';
import { BillingError } from '../errors.ts';
import type { CaptureOutcome, CaptureRequest, Gateway, GatewayCapture } from '../operations/ports.ts';
import { exchange } from './http-exchange.ts';
import { outcomeOfFailure, outcomeOfReply, pageOfReply } from './sandbox-replies.ts';

const CALL_MAX_MS = 30_000;
const CONNECT_MAX_MS = 5_000;
const PING_MAX_MS = 5_000;
const CONNECTIONS_MAX = 256;
/** A connection that was idle for longer is not used again: the server may be about to close it. */
const IDLE_MAX_MS = 4_000;
const REPLY_BYTES_MAX = 8 * 1024 * 1024;
const PAGE_LIMIT = 500;

export interface SandboxGatewayAdapterOptions {
  /** Such as `http://127.0.0.1:4010`; a path is a prefix of the gateway's own. */
  baseUrl: string;
  /** For one call as a whole, waiting for a connection included; 30 s. */
  timeoutMs?: number;
  /** Connections at once; further calls wait for one. 256. */
  connectionsMax?: number;
  /** The account whose echo is believed. */
  account?: string;
}

/**
 * `capture` never throws, and sends a call once or not at all. `close` lets the calls under way end, and refuses new
 * ones as not executed.
 *
 * @throws BillingError `configuration` if the URL cannot be read
 */
export function openSandboxGateway(options: SandboxGatewayAdapterOptions): Gateway {
  const { origin, prefix } = readBaseUrl(options.baseUrl);
  const timeoutMs = options.timeoutMs ?? CALL_MAX_MS;
  const pool = new Pool(origin, {
    connections: options.connectionsMax ?? CONNECTIONS_MAX,
    // One request a connection: with several, a lost connection would leave them all in doubt.
    pipelining: 1,
    keepAliveTimeout: IDLE_MAX_MS,
    keepAliveMaxTimeout: IDLE_MAX_MS,
    connect: { timeout: CONNECT_MAX_MS },
    // Each exchange has one limit for all of it.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  return {
    name: 'sandbox',
    account: options.account ?? 'acct_sandbox',
    capture,
    listCaptures,
    ping,
    close,
  };

  async function capture(
    request: CaptureRequest,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<CaptureOutcome> {
    const ended = await exchange(
      pool,
      {
        method: 'POST',
        path: `${prefix}/v1/captures`,
        headers: { 'content-type': 'application/json', 'idempotency-key': request.gatewayKey },
        body: JSON.stringify(captureBody(request)),
      },
      { timeoutMs, replyBytesMax: REPLY_BYTES_MAX, signal },
    );
    return ended.kind === 'reply' ? outcomeOfReply(ended, new Date()) : outcomeOfFailure(ended);
  }

  async function* listCaptures({ since }: { since?: Date } = {}): AsyncIterable<GatewayCapture> {
    let cursor: string | null = null;
    do {
      const query = new URLSearchParams({ limit: String(PAGE_LIMIT) });
      if (since) query.set('since', since.toISOString());
      if (cursor !== null) query.set('cursor', cursor);
      const page = await readPage(query);
      yield* page.captures;
      cursor = page.nextCursor;
    } while (cursor !== null);
  }

  async function readPage(query: URLSearchParams) {
    const reply = await get(`/v1/captures?${query}`, timeoutMs);
    const page = pageOfReply(reply);
    if (!page) throw unavailable(`answered ${reply.status} where a page of its ledger was expected`);
    return page;
  }

  async function ping(): Promise<void> {
    const reply = await get('/healthz', Math.min(timeoutMs, PING_MAX_MS));
    if (reply.status !== 200) throw unavailable(`answered ${reply.status}`);
  }

  async function get(path: string, limitMs: number) {
    const limits = { timeoutMs: limitMs, replyBytesMax: REPLY_BYTES_MAX };
    const ended = await exchange(pool, { method: 'GET', path: `${prefix}${path}` }, limits);
    if (ended.kind === 'failed') throw unavailable(`cannot be reached: ${ended.reason}`);
    return ended;
  }

  async function close(): Promise<void> {
    if (!pool.closed) await pool.close();
  }

  function unavailable(what: string): BillingError {
    return new BillingError('unavailable', `the sandbox gateway at ${origin}${prefix} ${what}`);
  }
}

function readBaseUrl(baseUrl: string): { origin: string; prefix: string } {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new BillingError('configuration', 'the address of the sandbox gateway is not an http or https URL');
  }
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, '') };
}

function captureBody(request: CaptureRequest): object {
  return {
    amountMinor: request.amountMinor.toString(),
    currency: request.currency,
    customer: request.gatewayCustomer,
    paymentMethod: request.paymentMethod,
    descriptor: request.descriptor,
    metadata: request.metadata,
  };
}
