import type { PaymentStore } from '../operations/ports.ts';
import type { PrismaClient } from './generated/client.ts';
import { finalize } from './statements/finalize.ts';
import { lastLook } from './statements/last-look.ts';
import { loadWork } from './statements/load-work.ts';
import { settle } from './statements/settle.ts';
import { settleCaptured } from './statements/settle-captured.ts';
import { startAttempt } from './statements/start-attempt.ts';

/** The life of an invoice's money, one statement a verb. Contracts: `PaymentStore`. */
export function openPaymentStore(prisma: PrismaClient, { mailDomain }: { mailDomain: string }): PaymentStore {
  return {
    loadWork: (invoiceId) => loadWork(prisma, invoiceId),
    finalize: (invoiceId, version, attempt, by) => finalize(prisma, invoiceId, version, attempt, by),
    startAttempt: (invoiceId, attemptSeq, attempt, by) =>
      startAttempt(prisma, invoiceId, attemptSeq, attempt, by),
    lastLook: (paymentId, options) => lastLook(prisma, paymentId, options),
    settleCaptured: (payment, answer, by) => settleCaptured(prisma, payment, answer, { ...by, mailDomain }),
    settle: (payment, settlement, by) => settle(prisma, payment, settlement, by),
  };
}
