import type { InvoiceStore } from '../operations/ports.ts';
import type { PrismaClient } from './generated/client.ts';
import { createDraft } from './statements/create-draft.ts';
import { getInvoice, listInvoices } from './statements/read-invoices.ts';
import { requestFinalization } from './statements/request-finalization.ts';

/** The invoices' rows, for whoever creates and reads them. Contracts: `InvoiceStore`. */
export function openInvoiceStore(prisma: PrismaClient): InvoiceStore {
  return {
    create: (draft) => createDraft(prisma, draft),
    get: (reference) => getInvoice(prisma, reference),
    list: (page) => listInvoices(prisma, page),
    requestFinalization: (reference, by) => requestFinalization(prisma, reference, by),
  };
}
