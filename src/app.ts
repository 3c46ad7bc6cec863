/**
 * The only composition root: each ring is opened here, on first use, and closed in reverse order. So `import` needs
 * no Redis, and `show` no gateway.
 */
import { checkRedis, openPatientRedis, openPromptRedis } from './bullmq/connections.ts';
import { openQueues } from './bullmq/queues.ts';
import { makeReminders } from './bullmq/reminders.ts';
import { openWorker, type Worker, type WorkerOptions } from './bullmq/worker.ts';
import type { Config } from './config.ts';
import { renderReceipt } from './email/receipt.ts';
import { openSmtpMailer } from './email/smtp-mailer.ts';
import { openSandboxGateway } from './gateways/sandbox.ts';
import { buildHealthServer } from './http/operator/health.ts';
import { beginLifetime } from './lifetime.ts';
import { openInvoiceLock } from './locks/invoice-lock.ts';
import { openRedisLockConnection } from './locks/redis-lock-connection.ts';
import { awaitServices } from './operations/await-services.ts';
import { checkReadiness, type ServiceCheck } from './operations/check-readiness.ts';
import { makeCreateDraft } from './operations/create-draft.ts';
import { makeFinalizeInvoice } from './operations/finalize-invoice.ts';
import { makeRequestFinalization } from './operations/request-finalization.ts';
import { makeSendMail } from './operations/send-mail.ts';
import { makeSendPayment } from './operations/send-payment.ts';
import { openCustomerStore } from './postgres/customers.ts';
import { openEmailStore } from './postgres/emails.ts';
import { openInvoiceStore } from './postgres/invoices.ts';
import { openPaymentStore } from './postgres/payments.ts';
import { requireMigrated } from './postgres/pending-migrations.ts';
import { openPrisma, pingPostgres } from './postgres/prisma.ts';
import { openLog } from './telemetry/log.ts';

export { hashPassword } from './http/operator/password.ts';

export interface AppOptions {
  /** Names the process in its logs and connections. */
  processName: string;
}

export type App = ReturnType<typeof openApp>;

/** Opens nothing yet. Every member that is called without arguments hands out one thing, made at the first call. */
export function openApp(config: Config, { processName }: AppOptions) {
  const { opened, close } = beginLifetime();
  const log = openLog({ level: config.logLevel, name: `billonce-${processName}` });
  const { databaseUrl, redisUrl, redisPrefix: prefix } = config;
  const redisTarget = (use: string) => ({ redisUrl, log, name: `${processName}-${use}` });

  const prisma = opened(
    () =>
      openPrisma({
        databaseUrl,
        poolMax: config.databasePoolMax,
        applicationName: `billonce-${processName}`,
      }),
    (client) => client.$disconnect(),
  );
  const promptRedis = opened(
    () => openPromptRedis(redisTarget('queues')),
    (redis) => redis.disconnect(),
  );
  const patientRedis = opened(
    () => openPatientRedis(redisTarget('worker')),
    (redis) => redis.disconnect(),
  );
  const lockConnection = opened(
    () => openRedisLockConnection({ url: redisUrl, logger: log }),
    async (connection) => (await connection).close(),
  );
  const queues = opened(
    () => openQueues({ redis: promptRedis(), prefix }),
    (thing) => thing.close(),
  );
  const gateway = opened(
    () => openSandboxGateway({ baseUrl: config.gateway.url }),
    (thing) => thing.close(),
  );
  const mailer = opened(
    () => openSmtpMailer({ smtpUrl: config.smtpUrl }),
    (thing) => thing.close(),
  );

  const reminders = opened(() => makeReminders(queues(), log));
  const customers = opened(() => openCustomerStore(prisma()));
  const invoices = opened(() => openInvoiceStore(prisma()));
  const payments = opened(() => openPaymentStore(prisma(), { mailDomain: domainOf(config.mailFrom) }));
  const invoiceLock = opened(() => openInvoiceLock({ connection: lockConnection, prefix, log }));

  const createDraft = opened(() => makeCreateDraft({ invoices: invoices() }));
  const requestFinalization = opened(() =>
    makeRequestFinalization({ invoices: invoices(), reminders: reminders() }),
  );
  const sendPayment = opened(() =>
    makeSendPayment({
      payments: payments(),
      gateway: gateway(),
      reminders: reminders(),
      log,
      monotonicMs: () => performance.now(),
    }),
  );
  const finalizeInvoice = opened(() =>
    makeFinalizeInvoice({
      withInvoiceLock: invoiceLock(),
      payments: payments(),
      reminders: reminders(),
      sendPayment: sendPayment(),
      gatewayName: gateway().name,
    }),
  );
  const sendMail = opened(() =>
    makeSendMail({
      emails: openEmailStore(prisma()),
      mailer: mailer(),
      renderReceipt,
      mailFrom: config.mailFrom,
    }),
  );

  const database = { name: 'postgres', required: true };
  const databaseAtStart: ServiceCheck = { ...database, check: () => requireMigrated({ databaseUrl }) };
  const databaseLater: ServiceCheck = { ...database, check: () => pingPostgres(prisma(), databaseUrl) };
  const redis = { name: 'redis', check: () => checkRedis(promptRedis(), redisUrl) };
  const forWorkers: ServiceCheck[] = [
    { ...redis, required: true },
    { name: 'gateway', required: false, check: () => gateway().ping() },
    { name: 'smtp', required: false, check: () => mailer().ping() },
  ];
  // A wish is accepted without Redis, too.
  const forApi: ServiceCheck[] = [{ ...redis, required: false }];

  return {
    config,
    log,
    customers,
    invoices,
    queues,
    gateway,
    createDraft,
    requestFinalization,
    finalizeInvoice,
    sendMail,
    awaitWorkerServices: () => awaitServices([databaseAtStart, ...forWorkers], log),
    awaitApiServices: () => awaitServices([databaseAtStart, ...forApi], log),
    apiReadiness: () => checkReadiness([databaseLater, ...forApi]),
    async startHealthServer(port: number) {
      const server = buildHealthServer(
        { live: () => undefined, ready: () => checkReadiness([databaseLater, ...forWorkers]) },
        log,
      );
      await server.listen({ host: config.api.host, port });
      return server;
    },
    startWorker: (options: Pick<WorkerOptions, 'name' | 'queue' | 'concurrency' | 'handlers'>): Worker =>
      openWorker({
        ...options,
        redis: patientRedis(),
        prefix,
        log,
        lockBusy: { delayMs: config.worker.lockBusyDelayMs, maxMs: config.worker.lockBusyMaxMs },
      }),
    close,
  };
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1) || 'localhost';
}
