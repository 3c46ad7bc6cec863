/** Rejects if the reply takes longer; the reply itself may still come, and is then ignored. */
export async function withTimeLimit<T>(reply: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No reply within ${limitMs} ms`)), limitMs);
    timer.unref();
  });
  try {
    return await Promise.race([reply, limit]);
  } finally {
    clearTimeout(timer);
  }
}
