/** Stores in memory, for tests of what stands above them. Contracts: `InvoiceStore` and `CustomerStore`. */

import { isDeepStrictEqual } from 'node:util';
import { v7 as uuidv7 } from 'uuid';
import { BillingError } from '../../src/errors.ts';
import { customerInputOf } from '../../src/operations/customer-input.ts';
import type {
  CustomerInput,
  CustomerStore,
  CustomerView,
  InvoiceStore,
  InvoiceView,
  NewDraft,
  Reference,
} from '../../src/operations/ports.ts';

export interface MemoryStores {
  invoices: InvoiceStore;
  customers: CustomerStore;
  /** Lets a test move an invoice on, as a worker would. */
  change(invoiceId: string, change: Partial<InvoiceView>): void;
  /** Who asked for finalizations. */
  actors: string[];
}

export function openMemoryStores(): MemoryStores {
  const customers = new Map<string, CustomerView>();
  const invoices = new Map<string, InvoiceView & { contentHash: string }>();
  const actors: string[] = [];
  const find = <Thing extends { id: string; externalId: string }>(
    things: Map<string, Thing>,
    by: Reference,
  ) =>
    [...things.values()].find((thing) =>
      'id' in by ? thing.id === by.id : thing.externalId === by.externalId,
    ) ?? null;

  function createCustomer(input: CustomerInput) {
    const known = find(customers, { externalId: input.externalId });
    if (known) {
      const { id, createdAt, updatedAt, ...data } = known;
      return {
        kind: isDeepStrictEqual(data, input) ? ('unchanged' as const) : ('different' as const),
        customer: known,
      };
    }
    const now = new Date();
    const customer = { ...input, id: uuidv7(), createdAt: now, updatedAt: now };
    customers.set(customer.id, customer);
    return { kind: 'created' as const, customer };
  }

  return {
    actors,
    change(invoiceId, change) {
      const invoice = invoices.get(invoiceId);
      if (!invoice) throw new Error(`no invoice ${invoiceId}`);
      invoices.set(invoiceId, { ...invoice, ...change });
    },
    customers: {
      create: async (input) => createCustomer(input),
      get: async (reference) => find(customers, reference),
    },
    invoices: {
      async create(draft) {
        const known = find(invoices, { externalId: draft.draft.externalId });
        if (known) {
          const kind = known.contentHash === draft.contentHash ? 'unchanged' : 'different';
          return { kind, invoiceId: known.id, customerDiffers: false };
        }
        if (draft.draft.series === 'UNKNOWN') return { kind: 'unknown_series', series: 'UNKNOWN' };
        const { kind, customer } = createCustomer(customerInputOf(draft.draft.customer));
        const invoice = { ...viewOf(draft, customer), contentHash: draft.contentHash };
        invoices.set(invoice.id, invoice);
        return { kind: 'created', invoiceId: invoice.id, customerDiffers: kind === 'different' };
      },
      get: async (reference) => find(invoices, reference),
      async list({ status, limit, cursor }) {
        if (cursor !== undefined && !invoices.has(cursor))
          throw new BillingError('invalid', 'cursor is none of ours');
        const rows = [...invoices.values()]
          .filter((invoice) => (!status || invoice.status === status) && (!cursor || invoice.id < cursor))
          .sort((a, b) => (a.id < b.id ? 1 : -1));
        const data = rows.slice(0, limit);
        return { data, nextCursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null };
      },
      async requestFinalization(reference, by) {
        const invoice = find(invoices, reference);
        if (!invoice) return { kind: 'not_found' };
        if (invoice.status !== 'draft') return { kind: 'already_finalized', invoiceId: invoice.id };
        actors.push(by.actor);
        invoices.set(invoice.id, {
          ...invoice,
          finalizeRequestedAt: invoice.finalizeRequestedAt ?? new Date(),
        });
        return { kind: 'wished', invoiceId: invoice.id };
      },
    },
  };
}

function viewOf({ draft, computed }: NewDraft, customer: CustomerView): InvoiceView {
  const now = new Date();
  return {
    id: uuidv7(),
    externalId: draft.externalId,
    number: null,
    status: 'draft',
    collectionMethod: draft.collectionMethod,
    customerId: customer.id,
    customerExternalId: customer.externalId,
    currency: draft.currency,
    subtotalMinor: computed.subtotalMinor,
    discountMinor: computed.discountMinor,
    chargeMinor: computed.chargeMinor,
    taxMinor: computed.taxMinor,
    totalMinor: computed.totalMinor,
    paidMinor: 0n,
    creditedMinor: 0n,
    dueMinor: computed.totalMinor,
    issueDate: null,
    dueDate: null,
    finalizeRequestedAt: null,
    finalizedAt: null,
    nextAttemptAt: null,
    parkedReason: null,
    version: 1,
    revision: 1,
    createdAt: now,
    updatedAt: now,
    series: draft.series ?? 'INV',
    rounding: draft.rounding,
    pricesIncludeTax: draft.pricesIncludeTax,
    note: draft.note ?? null,
    metadata: draft.metadata ?? {},
    lines: draft.lines.map((line, index) => {
      const figures = computed.lines[index];
      if (!figures) throw new Error('a line was not computed');
      const { description, quantity, unitPrice } = line;
      return { description, quantity, unitPrice, ...figures };
    }),
    taxBreakdown: computed.taxBreakdown,
    payments: [],
  };
}
