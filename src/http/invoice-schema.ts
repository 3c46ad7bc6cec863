/** What an invoice looks like in the API; `invoice-json.ts` makes it so. */
import { z } from 'zod';

export const invoiceStatusSchema = z.enum(['draft', 'open', 'paid', 'void', 'uncollectible']);

const amount = z
  .string()
  .describe('In the currency, as a decimal')
  .meta({ examples: ['12.34'] });
const minor = z
  .string()
  .describe('The same in minor units')
  .meta({ examples: ['1234'] });
const timestamp = z.iso.datetime();
const date = z.iso.date().describe("A date of the seller's calendar");

const summaryShape = {
  id: z.uuid(),
  externalId: z.string(),
  number: z.string().nullable().describe('Null until finalized, then fixed'),
  status: invoiceStatusSchema,
  collectionMethod: z.enum(['charge_automatically', 'send_invoice']),
  customer: z.object({ id: z.uuid(), externalId: z.string() }),
  currency: z.string().describe('ISO 4217'),
  subtotal: amount,
  subtotalMinor: minor,
  discount: amount,
  discountMinor: minor,
  charge: amount,
  chargeMinor: minor,
  tax: amount,
  taxMinor: minor,
  total: amount,
  totalMinor: minor,
  paid: amount,
  paidMinor: minor,
  credited: amount,
  creditedMinor: minor,
  due: amount,
  dueMinor: minor,
  issueDate: date.nullable(),
  dueDate: date.nullable(),
  finalizeRequestedAt: timestamp.nullable().describe('When somebody asked to finalize it'),
  finalizedAt: timestamp.nullable(),
  nextAttemptAt: timestamp.nullable().describe('When the next automatic charge is due'),
  parkedReason: z.string().nullable().describe('Why nothing automatic happens to it until an operator looks'),
  version: z.int().min(1).describe("Raised by every change of a draft's content"),
  revision: z.int().min(1).describe('Raised by every change that can be seen here'),
  createdAt: timestamp,
  updatedAt: timestamp,
};

export const invoiceSummarySchema = z.object(summaryShape).meta({ id: 'InvoiceSummary' });

const invoiceShape = {
  ...summaryShape,
  series: z.string(),
  rounding: z.enum(['per-rate', 'per-line']),
  pricesIncludeTax: z.boolean(),
  note: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  lines: z.array(
    z.object({
      description: z.string(),
      quantity: z.string(),
      unitPrice: z.string(),
      taxCategory: z.string(),
      taxRatePercent: z.string(),
      net: amount,
      netMinor: minor,
      tax: amount,
      taxMinor: minor,
    }),
  ),
  taxBreakdown: z.array(
    z.object({
      category: z.string(),
      ratePercent: z.string(),
      taxable: amount,
      taxableMinor: minor,
      tax: amount,
      taxMinor: minor,
    }),
  ),
  payments: z
    .array(
      z.object({
        id: z.uuid(),
        status: z.enum([
          'created',
          'sent',
          'captured',
          'declined',
          'requires_action',
          'processing',
          'unknown',
          'cancelled',
        ]),
        amount,
        amountMinor: minor,
        declineCode: z.string().nullable(),
        declineClass: z.enum(['retry_later', 'customer_must_act', 'stop']).nullable(),
        gateway: z.string(),
        gatewayReference: z.string().nullable(),
        createdAt: timestamp,
        capturedAt: timestamp.nullable(),
      }),
    )
    .describe('Every attempt to be paid, the newest last'),
};

export const invoiceSchema = z.object(invoiceShape).meta({ id: 'Invoice' });
export const createdInvoiceSchema = z
  .object({
    ...invoiceShape,
    warnings: z
      .array(z.object({ field: z.string(), code: z.string(), message: z.string() }))
      .describe('What was taken all the same, but should be looked at'),
  })
  .meta({ id: 'CreatedInvoice' });
