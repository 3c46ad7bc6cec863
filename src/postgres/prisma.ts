import { PrismaPg } from '@prisma/adapter-pg';
import { BillingError } from '../errors.ts';
import { describeDatabase } from './describe-database.ts';
import { PrismaClient } from './generated/client.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const IDLE_TIMEOUT_MS = 30_000;
/** Longer than the role's statement time-out, so that Postgres speaks first; then the connection is destroyed. */
const CLIENT_TIMEOUT_MS = 15_000;

export interface PrismaOptions {
  databaseUrl: string;
  poolMax: number;
  applicationName: string;
}

export type Prisma = PrismaClient;

/** Opens a pool; the first statement connects. Statement and lock time-outs are the role's (see the migration). */
export function openPrisma({ databaseUrl, poolMax, applicationName }: PrismaOptions): PrismaClient {
  const adapter = new PrismaPg({
    connectionString: databaseUrl,
    max: poolMax,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    query_timeout: CLIENT_TIMEOUT_MS,
    keepAlive: true,
  });
  return new PrismaClient({ adapter, transactionOptions: { maxWait: 5_000, timeout: 10_000 } });
}

/** @throws BillingError `unavailable` with one sentence that says where Postgres was looked for */
export async function pingPostgres(prisma: PrismaClient, databaseUrl: string): Promise<void> {
  try {
    await prisma.$queryRaw`SELECT 1`;
  } catch (cause) {
    throw new BillingError('unavailable', `Postgres cannot be reached at ${describeDatabase(databaseUrl)}`, {
      cause,
    });
  }
}
