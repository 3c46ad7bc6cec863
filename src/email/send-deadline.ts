/** Ends a hand-over from outside: by the caller while nothing is at stake, by the clock in any case. */
export interface SendDeadline extends Disposable {
  readonly signal: AbortSignal;
  expired(): boolean;
}

/**
 * The caller's abort is heeded while `heedsAbort()`: once the server has the content, to leave would only turn a
 * reply that is about to come into an outcome that nobody knows.
 */
export function startDeadline(
  limitMs: number,
  caller: AbortSignal | undefined,
  heedsAbort: () => boolean,
): SendDeadline {
  const controller = new AbortController();
  let expired = false;
  const timer = setTimeout(() => {
    expired = true;
    controller.abort();
  }, limitMs);
  const onAbort = () => {
    if (heedsAbort()) controller.abort();
  };
  caller?.addEventListener('abort', onAbort, { once: true });
  if (caller?.aborted) controller.abort();

  return {
    signal: controller.signal,
    expired: () => expired,
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      // The caller's signal may live as long as the worker does.
      caller?.removeEventListener('abort', onAbort);
    },
  };
}
