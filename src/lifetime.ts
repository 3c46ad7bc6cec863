/** Things that are opened on first use, once, and closed in reverse order. */
export interface Lifetime {
  /** Answers a function that opens the thing at its first call and then hands out the same one. */
  opened<T>(open: () => T, close?: (thing: T) => unknown): () => T;
  /** Each is closed though another fails. Run twice: nothing happens. Nothing can be opened afterwards. */
  close(): Promise<void>;
}

export function beginLifetime(): Lifetime {
  const closers: (() => unknown)[] = [];
  let closed = false;
  return {
    opened(open, close) {
      let thing: { value: ReturnType<typeof open> } | null = null;
      return () => {
        if (thing) return thing.value;
        if (closed) throw new Error('the application is closed');
        const value = open();
        thing = { value };
        if (close) closers.push(() => close(value));
        return value;
      };
    },
    async close() {
      closed = true;
      for (const closer of closers.splice(0).reverse()) {
        await Promise.resolve()
          .then(closer)
          .catch(() => undefined); // the next one must still be closed
      }
    },
  };
}
