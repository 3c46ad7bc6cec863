/** The application on real services, each world with a database, a key prefix, a gateway and a mailbox of its own. */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterAll, expect } from 'vitest';
import { type App, openApp } from '../../src/app.ts';
import type { Config } from '../../src/config.ts';
import { type Mailbox, openMailbox } from '../../src/demo/mailbox.ts';
import { scriptedCalls } from '../../src/demo/sandbox-gateway/scripted-calls.ts';
import { buildSandboxGateway } from '../../src/demo/sandbox-gateway/server.ts';
import type { GatewayCapture } from '../../src/operations/ports.ts';
import { openPrisma, type Prisma } from '../../src/postgres/prisma.ts';
import { freshDatabase, freshPrefix, redisUrl } from './services.ts';

export interface BillingWorld {
  config: Config;
  app: App;
  prisma: Prisma;
  mailbox: Mailbox;
  gateway: FastifyInstance;
  /** A further application on the same services, as another process would be. */
  openAnotherApp(): App;
  /** A draft with a wish to be finalized; answers the invoice's id. */
  wishedDraft(options?: DraftOptions): Promise<string>;
  draft(options?: DraftOptions): Promise<string>;
  /** Everything that the gateway captured, for one invoice if given. */
  captures(invoiceId?: string): Promise<GatewayCapture[]>;
}

export interface DraftOptions {
  paymentMethod?: string | null;
  unitPrice?: string;
  collectionMethod?: 'charge_automatically' | 'send_invoice';
  email?: string | null;
}

/** Closed after the test file. */
export async function openBillingWorld(overrides: Partial<Config['worker']> = {}): Promise<BillingWorld> {
  const closers: (() => unknown)[] = [];
  afterAll(async () => {
    for (const close of closers.reverse()) await close();
  });
  const databaseUrl = await freshDatabase();
  const mailbox = await openMailbox({});
  closers.push(() => mailbox.close());
  const gateway = await buildSandboxGateway({ slowMs: 300, scripts: scriptedCalls() });
  await gateway.listen({ host: '127.0.0.1', port: 0 });
  closers.push(() => gateway.close());
  const config: Config = {
    production: false,
    logLevel: 'silent',
    databaseUrl,
    databasePoolMax: 10,
    redisUrl: redisUrl(),
    redisPrefix: freshPrefix(),
    smtpUrl: mailbox.smtpUrl,
    mailFrom: 'billing@billonce.example',
    gateway: { kind: 'sandbox', url: `http://127.0.0.1:${(gateway.server.address() as AddressInfo).port}` },
    api: { host: '127.0.0.1', port: 0, keys: [] },
    board: { user: 'operator', passwordHash: 'scrypt:none', sessionSecret: 'x'.repeat(32) },
    worker: { port: null, concurrency: 10, lockBusyDelayMs: 5_000, lockBusyMaxMs: 600_000, ...overrides },
  };
  const openAnotherApp = () => {
    const another = openApp(config, { processName: 'test' });
    closers.push(() => another.close());
    return another;
  };
  const app = openAnotherApp();
  const prisma = openPrisma({ databaseUrl, poolMax: 10, applicationName: 'test' });
  closers.push(() => prisma.$disconnect());

  const draft = async (options: DraftOptions = {}) => {
    const { invoiceId } = await app.createDraft()(draftInput(options));
    return invoiceId;
  };
  return {
    config,
    app,
    prisma,
    mailbox,
    gateway,
    openAnotherApp,
    draft,
    async wishedDraft(options) {
      const invoiceId = await draft(options);
      await app.invoices().requestFinalization({ id: invoiceId }, { actor: 'test' });
      return invoiceId;
    },
    async captures(invoiceId) {
      const all: GatewayCapture[] = [];
      for await (const capture of app.gateway().listCaptures()) all.push(capture);
      return all.filter((capture) => invoiceId === undefined || capture.metadata.invoiceId === invoiceId);
    },
  };
}

export function draftInput(options: DraftOptions = {}) {
  const id = randomUUID();
  const {
    paymentMethod = 'pm_ok',
    unitPrice = '12.34',
    collectionMethod,
    email = `${id}@example.test`,
  } = options;
  return {
    externalId: `order-${id}`,
    customer: { externalId: `customer-${id}`, name: 'Grace Hopper', email, paymentMethod },
    currency: 'EUR',
    ...(collectionMethod ? { collectionMethod } : {}),
    lines: [{ description: 'Compiler', quantity: '1', unitPrice }],
  };
}

/** Polls until the check passes; the last failure is what the test reports. */
export async function eventually(check: () => Promise<void> | void, limitMs = 15_000): Promise<void> {
  await expect
    .poll(
      async () => {
        try {
          await check();
          return 'passed';
        } catch (error) {
          return error instanceof Error ? error.message : String(error);
        }
      },
      { timeout: limitMs, interval: 50 },
    )
    .toBe('passed');
}
