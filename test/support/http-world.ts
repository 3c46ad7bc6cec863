/** A real server on a port of its own, over stores in memory. */
import { createHash } from 'node:crypto';
import { type Logger, pino } from 'pino';
import { buildHttpServer, type HttpNeeds } from '../../src/http/server.ts';
import { makeCreateDraft } from '../../src/operations/create-draft.ts';
import { makeRequestFinalization } from '../../src/operations/request-finalization.ts';
import { type MemoryStores, openMemoryStores } from './memory-stores.ts';

/** Made by `hashPassword` at a lower cost, so that tests are quick; the password is "correct horse". */
export const BOARD = {
  user: 'operator',
  password: 'correct horse',
  passwordHash: 'scrypt:1024:8:1:c2FsdCBvZiB0aGUgdGVzdA==:9edoXMRNaz8NTtO+RTZY0YyB2GVFlMvX/yAHK6znnTg=',
  sessionSecret: 'a secret of the tests, long enough for anybody',
};

export const KEYS = { admin: 'bo_admin', read: 'bo_read', write: 'bo_write' };

export interface HttpWorld extends AsyncDisposable {
  url: string;
  stores: MemoryStores;
  /** Everything that was logged, parsed. */
  logLines: Record<string, unknown>[];
  needs: HttpNeeds;
  /** With the admin key and JSON, unless told otherwise. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

export interface CallOptions {
  body?: unknown;
  /** Null for none. */
  key?: string | null;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any;
}

export async function openHttpWorld(changes: Partial<HttpNeeds> = {}): Promise<HttpWorld> {
  const stores = openMemoryStores();
  const logLines: Record<string, unknown>[] = [];
  const needs: HttpNeeds = {
    createDraft: makeCreateDraft(stores),
    requestFinalization: makeRequestFinalization({
      invoices: stores.invoices,
      reminders: {
        finalizeInvoice: async (invoiceId) => ({ queue: 'billing', id: `finalize-invoice-${invoiceId}` }),
      },
    }),
    invoices: stores.invoices,
    customers: stores.customers,
    apiKeys: [
      apiKey('admin', KEYS.admin, ['admin']),
      apiKey('reader', KEYS.read, ['read']),
      apiKey('writer', KEYS.write, ['write']),
    ],
    board: BOARD,
    production: false,
    queues: [],
    health: { live: () => undefined, ready: async () => ({ status: 'ok', checks: { postgres: 'ok' } }) },
    log: loggerInto(logLines),
    ...changes,
  };
  const server = buildHttpServer(needs);
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    stores,
    logLines,
    needs,
    call: (method, path, options) => call(`${url}${path}`, method, options),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

export function apiKey(name: string, key: string, scopes: HttpNeeds['apiKeys'][number]['scopes']) {
  return { name, sha256: createHash('sha256').update(key).digest('hex'), scopes };
}

export function loggerInto(lines: Record<string, unknown>[]): Logger {
  return pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line)) });
}

async function call(url: string, method: string, options: CallOptions = {}): Promise<Answer> {
  const { body, key = KEYS.admin, headers = {} } = options;
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== '' ? JSON.parse(text) : text,
  };
}
