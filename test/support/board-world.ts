/** The board over a real Redis with real queues: one job failed, one waits. */
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { HttpNeeds } from '../../src/http/server.ts';
import { BOARD, type HttpWorld, openHttpWorld } from './http-world.ts';
import { startRedisServer, type TestRedisServer } from './redis-server.ts';

const PREFIX = '{board-test}';
const JOB_WITHIN_MS = 10_000;

export interface BoardWorld extends HttpWorld {
  redis: TestRedisServer;
  billing: Queue;
  mail: Queue;
  failedJobId: string;
  waitingJobId: string;
}

export async function openBoardWorld(changes: Partial<HttpNeeds> = {}): Promise<BoardWorld> {
  const redis = await startRedisServer();
  const connection = new Redis(redis.url, { maxRetriesPerRequest: 1, commandTimeout: 1_000 });
  connection.on('error', () => undefined); // some tests take Redis away
  const billing = new Queue('billing', { connection, prefix: PREFIX });
  const mail = new Queue('mail', { connection, prefix: PREFIX });
  for (const queue of [billing, mail]) queue.on('error', () => undefined);
  const failedJobId = await failedJob(billing, redis.url);
  const waiting = await mail.add('send-mail', { emailId: '01890000-0000-7000-8000-000000000002' });
  const world = await openHttpWorld({ queues: [billing, mail], ...changes });
  return {
    ...world,
    redis,
    billing,
    mail,
    failedJobId,
    waitingJobId: String(waiting.id),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await Promise.allSettled([billing.close(), mail.close()]);
      connection.disconnect();
      await redis.stop();
    },
  };
}

/** The session's cookie, as a browser would send it. */
export async function logIn(
  url: string,
  password = BOARD.password,
): Promise<{ response: Response; cookie: string }> {
  const page = await fetch(`${url}/admin/login`);
  const formCookie = cookiesOf(page);
  const token = /name="token" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  const response = await fetch(`${url}/admin/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: formCookie, origin: url },
    body: new URLSearchParams({ token, user: BOARD.user, password }),
  });
  return { response, cookie: cookiesOf(response) };
}

export function cookiesOf(response: Response): string {
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ');
}

async function failedJob(queue: Queue, redisUrl: string): Promise<string> {
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const worker = new Worker(queue.name, () => Promise.reject(new Error('the gateway cannot be reached')), {
    connection,
    prefix: PREFIX,
  });
  try {
    const failed = new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no job failed in time')), JOB_WITHIN_MS);
      worker.once('failed', (job) => {
        clearTimeout(timer);
        resolve(String(job?.id));
      });
    });
    await queue.add('finalize-invoice', {
      invoiceId: '01890000-0000-7000-8000-000000000001',
      customerName: 'Ann Example',
    });
    return await failed;
  } finally {
    await worker.close();
    connection.disconnect();
  }
}
