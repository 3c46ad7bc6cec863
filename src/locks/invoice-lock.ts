import type { Log, WithInvoiceLock } from '../operations/ports.ts';
import { LockBusyError } from './errors.ts';
import type { RedisLockConnection } from './redis-lock-connection.ts';
import { RedisMutex } from './redis-mutex.ts';

export interface InvoiceLockOptions {
  connection: () => Promise<RedisLockConnection>;
  prefix: string;
  log: Log;
}

/**
 * One key per invoice, taken by every operation that may call the gateway for it. A courtesy that saves work and
 * spares the gateway; what keeps money right are the compare-and-sets in Postgres.
 */
export function openInvoiceLock({ connection, prefix, log }: InvoiceLockOptions): WithInvoiceLock {
  return async (invoiceId, section) => {
    const { redis } = await connection();
    const mutex = new RedisMutex({ redis, key: `${prefix}:lock:invoice:${invoiceId}`, logger: log });
    try {
      return { busy: false, value: await mutex.withLock(section) };
    } catch (error) {
      if (error instanceof LockBusyError) return { busy: true };
      throw error;
    }
  };
}
