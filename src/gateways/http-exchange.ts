/**
 * One request over a pooled connection, and what is certain about it when no reply comes: whether it was ever handed
 * to a connection. Error codes alone cannot say that (a reset may come before or after the request), so the moment
 * itself is watched.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher, Pool } from 'undici';

export interface HttpRequest {
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface ExchangeLimits {
  /** For everything: waiting for a connection, sending, and the whole reply. */
  timeoutMs: number;
  replyBytesMax: number;
  signal?: AbortSignal | undefined;
}

export type Exchange =
  | { kind: 'reply'; status: number; headers: IncomingHttpHeaders; body: string }
  /** `handedOver` false: certainly no byte of it has left. True: the server may have done what it was asked. */
  | { kind: 'failed'; handedOver: boolean; reason: string };

/** Never rejects. The request is sent once or not at all, whatever happens to the connection. */
export function exchange(pool: Pool, request: HttpRequest, limits: ExchangeLimits): Promise<Exchange> {
  const { signal, timeoutMs, replyBytesMax } = limits;
  if (signal?.aborted) return Promise.resolve({ kind: 'failed', handedOver: false, reason: 'aborted' });

  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | null = null;
    let ended = false;
    let status = 0;
    let headers: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    let replyBytes = 0;
    const timer = setTimeout(() => giveUp('timeout'), timeoutMs);
    const onAbort = () => giveUp('aborted');
    signal?.addEventListener('abort', onAbort);

    pool.dispatch(
      { ...request, headers: request.headers ?? null, body: request.body ?? null },
      {
        /** Comes directly before the first byte is written. */
        onRequestStart(started) {
          // Given up while it waited for a connection, or about to be sent a second time without our knowing.
          if (ended || controller) started.abort(new Error('not to be sent'));
          else controller = started;
        },
        onResponseStart(_controller, statusCode, responseHeaders) {
          status = statusCode;
          headers = responseHeaders;
        },
        onResponseData(_controller, chunk) {
          replyBytes += chunk.length;
          if (replyBytes > replyBytesMax) giveUp('reply_too_large');
          else chunks.push(chunk);
        },
        onResponseEnd() {
          end({ kind: 'reply', status, headers, body: Buffer.concat(chunks).toString('utf8') });
        },
        onResponseError(_controller, error) {
          end({ kind: 'failed', handedOver: controller !== null, reason: codeOf(error) });
        },
      },
    );

    function giveUp(reason: string): void {
      end({ kind: 'failed', handedOver: controller !== null, reason });
      controller?.abort(new Error(reason));
    }

    function end(result: Exchange): void {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      resolve(result);
    }
  });
}

/** A code such as `ECONNREFUSED`; messages may hold addresses and headers. */
function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
