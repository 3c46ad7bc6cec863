import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the range from which systems take the ports of outgoing connections, so that a server that is stopped
// for a while finds its port free when it comes back.
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 31_999;
const TRIES_MAX = 50;

/** A loopback port that was free a moment ago. Somebody else may still be quicker: callers try again. */
export async function pickFreePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const port = randomInt(LOWEST_PORT, HIGHEST_PORT + 1);
    if (await canListen(port)) return port;
  }
  throw new Error(`no free port found between ${LOWEST_PORT} and ${HIGHEST_PORT}`);
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
