/** An invoice as the API shows it. */
import type { z } from 'zod';
import { currencyOf } from '../billing/currency.ts';
import { formatMoney } from '../billing/money.ts';
import type { InvoiceSummary, InvoiceView } from '../operations/ports.ts';
import type { invoiceSchema, invoiceSummarySchema } from './invoice-schema.ts';

export function invoiceSummaryJson(invoice: InvoiceSummary): z.output<typeof invoiceSummarySchema> {
  const { currency } = invoice;
  return {
    id: invoice.id,
    externalId: invoice.externalId,
    number: invoice.number,
    status: invoice.status,
    collectionMethod: invoice.collectionMethod,
    customer: { id: invoice.customerId, externalId: invoice.customerExternalId },
    currency,
    ...pair('subtotal', invoice.subtotalMinor, currency),
    ...pair('discount', invoice.discountMinor, currency),
    ...pair('charge', invoice.chargeMinor, currency),
    ...pair('tax', invoice.taxMinor, currency),
    ...pair('total', invoice.totalMinor, currency),
    ...pair('paid', invoice.paidMinor, currency),
    ...pair('credited', invoice.creditedMinor, currency),
    ...pair('due', invoice.dueMinor, currency),
    issueDate: invoice.issueDate,
    dueDate: invoice.dueDate,
    finalizeRequestedAt: invoice.finalizeRequestedAt?.toISOString() ?? null,
    finalizedAt: invoice.finalizedAt?.toISOString() ?? null,
    nextAttemptAt: invoice.nextAttemptAt?.toISOString() ?? null,
    parkedReason: invoice.parkedReason,
    version: invoice.version,
    revision: invoice.revision,
    createdAt: invoice.createdAt.toISOString(),
    updatedAt: invoice.updatedAt.toISOString(),
  };
}

export function invoiceJson(invoice: InvoiceView): z.output<typeof invoiceSchema> {
  const { currency } = invoice;
  return {
    ...invoiceSummaryJson(invoice),
    series: invoice.series,
    rounding: invoice.rounding,
    pricesIncludeTax: invoice.pricesIncludeTax,
    note: invoice.note,
    metadata: invoice.metadata,
    lines: invoice.lines.map(({ netMinor, taxMinor, ...line }) => ({
      ...line,
      ...pair('net', netMinor, currency),
      ...pair('tax', taxMinor, currency),
    })),
    taxBreakdown: invoice.taxBreakdown.map(({ taxableMinor, taxMinor, ...group }) => ({
      ...group,
      ...pair('taxable', taxableMinor, currency),
      ...pair('tax', taxMinor, currency),
    })),
    payments: invoice.payments.map(({ amountMinor, createdAt, capturedAt, ...payment }) => ({
      ...payment,
      ...pair('amount', amountMinor, currency),
      createdAt: createdAt.toISOString(),
      capturedAt: capturedAt?.toISOString() ?? null,
    })),
  };
}

/** `total` → `total: "12.34"` beside `totalMinor: "1234"`. */
function pair<Name extends string>(name: Name, amountMinor: bigint, currency: string) {
  return {
    [name]: formatMoney(amountMinor, currencyOf(currency).exponent),
    [`${name}Minor`]: amountMinor.toString(),
  } as Record<Name | `${Name}Minor`, string>;
}
