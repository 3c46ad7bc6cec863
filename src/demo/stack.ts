/** The whole application on services of its own: what the demo shows and `npm run dev` works on. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashPassword } from '../http/operator/password.ts';
import { migrateDatabase } from '../postgres/migrate.ts';
import { type Application, makeApiKey, startApplication } from './application.ts';
import { type Mailbox, openMailbox } from './mailbox.ts';
import { type Guard, openGuard } from './services/guard.ts';
import { openServices } from './services/open-services.ts';
import type { Services } from './services/services.ts';

export interface Stack {
  services: Services;
  mailbox: Mailbox;
  sandboxUrl: string;
  apiUrl: string;
  apiKey: string;
  board: { user: string; password: string };
  workers: readonly Application[];
  /** Each line that a worker logs. */
  onWorkerLog(listener: (line: string) => void): void;
  /** Names of processes that ended though nobody stopped them. */
  ended(): readonly string[];
  /** Ends everything that was started, in order. Run twice: the same promise. */
  close(): Promise<void>;
}

export interface StackOptions {
  workers: number;
  announce(line: string): void;
  dataDir?: string;
  apiPort?: number;
  signal?: AbortSignal;
}

/** If one part cannot be opened, the parts before it are closed again. */
export async function openStack(options: StackOptions): Promise<Stack> {
  const closers: (() => unknown)[] = [];
  let closing: Promise<void> | null = null;
  const close = () => {
    closing ??= closeAll(closers);
    return closing;
  };
  try {
    return { ...(await openParts(options, closers)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openParts(options: StackOptions, closers: (() => unknown)[]): Promise<Omit<Stack, 'close'>> {
  const stopIfAsked = () => options.signal?.throwIfAborted();
  const guard = openGuard();
  closers.push(() => guard.close());
  const logFolder = await mkdtemp(join(tmpdir(), 'billonce-logs-'));
  guard.removeLater(logFolder);
  closers.push(() => rm(logFolder, { recursive: true, force: true }));

  const services = await openServices({
    announce: options.announce,
    ...(options.dataDir ? { dataDir: options.dataDir } : {}),
  });
  closers.push(() => services.close());
  stopIfAsked();
  await migrateDatabase({ databaseUrl: services.postgres.url });
  const mailbox = await openMailbox({});
  closers.push(() => mailbox.close());

  const endedProcesses: string[] = [];
  const run = launcher({ guard, logFolder, closers, endedProcesses });
  const sandboxData: Record<string, string> = options.dataDir
    ? { SANDBOX_DATA: join(options.dataDir, 'sandbox.jsonl') }
    : {};
  const sandbox = run('sandbox', 'src/demo/sandbox-gateway/main.js', { SANDBOX_PORT: '0', ...sandboxData });
  const sandboxUrl = await sandbox.firstLine((line) => valueIn(line, 'listening'));
  stopIfAsked();

  const { key: apiKey, entry } = makeApiKey('demo');
  const board = { user: 'operator', password: randomBytes(9).toString('base64url') };
  const env = {
    DATABASE_URL: services.postgres.url,
    REDIS_URL: services.redis.url,
    REDIS_PREFIX: services.redis.prefix,
    SMTP_URL: mailbox.smtpUrl,
    MAIL_FROM: 'billing@billonce.example',
    GATEWAY: 'sandbox',
    SANDBOX_URL: sandboxUrl,
    API_PORT: String(options.apiPort ?? 0),
    API_KEYS: entry,
    BOARD_USER: board.user,
    BOARD_PASSWORD_HASH: await hashPassword(board.password),
    SESSION_SECRET: randomBytes(32).toString('hex'),
  };
  const api = run('api', 'src/server.js', env);
  const names = Array.from({ length: options.workers }, (_, index) => `worker-${index + 1}`);
  const workers = names.map((name) => run(name, 'workers/main.js', env));
  const listeners: ((line: string) => void)[] = [];
  for (const worker of workers) worker.onLine((line) => listeners.forEach((listener) => void listener(line)));
  const [apiUrl] = await Promise.all([
    api.firstLine((line) => valueIn(line, 'listening')),
    ...workers.map((worker) =>
      worker.firstLine((line) => (line.includes('"worker started"') ? true : undefined)),
    ),
  ]);
  stopIfAsked();

  return {
    services,
    mailbox,
    sandboxUrl,
    apiUrl,
    apiKey,
    board,
    workers,
    onWorkerLog: (listener) => void listeners.push(listener),
    ended: () => endedProcesses,
  };
}

/** Processes end in the reverse order of their start, and together with what they were started for. */
function launcher(context: {
  guard: Guard;
  logFolder: string;
  closers: (() => unknown)[];
  endedProcesses: string[];
}) {
  return (name: string, script: string, env: Record<string, string>): Application => {
    const { guard, logFolder } = context;
    const application = startApplication({ name, script, env, guard, logFolder });
    let stopping = false;
    void application.exitCode().then((code) => {
      if (!stopping) context.endedProcesses.push(`${name} (exit code ${code ?? 'none'})`);
    });
    context.closers.push(() => {
      stopping = true;
      return application.stop();
    });
    return application;
  };
}

/** The text under this key of a line that is a JSON object. */
function valueIn(line: string, key: string): string | undefined {
  if (!line.startsWith('{')) return undefined;
  const value: unknown = (JSON.parse(line) as Record<string, unknown>)[key];
  return typeof value === 'string' ? value : undefined;
}

async function closeAll(closers: (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const closer of closers.splice(0).reverse()) {
    try {
      await closer();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
