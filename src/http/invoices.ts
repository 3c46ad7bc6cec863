/** Invoices over HTTP: drafts are created, looked at, and asked to be finalized. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { BillingError } from '../errors.ts';
import type { CreateDraft } from '../operations/create-draft.ts';
import { draftInputSchema } from '../operations/draft-input.ts';
import type { InvoiceStore, InvoiceView, Reference } from '../operations/ports.ts';
import type { RequestFinalization } from '../operations/request-finalization.ts';
import { actorOf } from './bearer-auth.ts';
import { DRAFT_EXAMPLE } from './examples.ts';
import { invoiceJson, invoiceSummaryJson } from './invoice-json.ts';
import {
  createdInvoiceSchema,
  invoiceSchema,
  invoiceStatusSchema,
  invoiceSummarySchema,
} from './invoice-schema.ts';
import { problemResponses } from './problem.ts';
import { parseReference, referenceParams } from './references.ts';
import { checkedByOperation } from './schemas.ts';

export interface InvoiceNeeds {
  createDraft: CreateDraft;
  requestFinalization: RequestFinalization;
  invoices: Pick<InvoiceStore, 'get' | 'list'>;
}

/** 10 000 lines with long descriptions. */
const DRAFT_BYTES_MAX = 8 * 1024 * 1024;
const PAGE_LIMIT_MAX = 100;
const PAGE_LIMIT_DEFAULT = 20;
const CURSOR_LENGTH_MAX = 200;

const pageQuery = z.strictObject({
  status: invoiceStatusSchema.optional(),
  limit: z.coerce.number().int().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT),
  cursor: z.string().min(1).max(CURSOR_LENGTH_MAX).optional().describe('The nextCursor of the page before'),
});

const finalizedSchema = z.object({ invoice: invoiceSchema }).meta({ id: 'AlreadyFinalized' });
const acceptedSchema = z
  .object({
    invoice: invoiceSchema,
    job: z
      .object({ queue: z.string(), id: z.string() })
      .nullable()
      .describe('Null while the queues are away'),
    queued: z.boolean().describe('False while the queues are away; the request is kept and nothing is lost'),
    statusUrl: z.string().describe('Where to look what became of it'),
  })
  .meta({ id: 'FinalizationAccepted' });

export function registerInvoices(fastify: FastifyInstance, needs: InvoiceNeeds): void {
  const routes = fastify.withTypeProvider<ZodTypeProvider>();
  const { invoices } = needs;

  routes.post(
    '/invoices',
    {
      config: { scope: 'write' },
      bodyLimit: DRAFT_BYTES_MAX,
      validatorCompiler: checkedByOperation,
      schema: {
        tags: ['Invoices'],
        summary: 'Create a draft',
        description:
          'Twice with the same content: 200, and nothing changes. `externalId` taken by other content: 409.',
        body: draftInputSchema.meta({ examples: [DRAFT_EXAMPLE] }),
        response: {
          ...problemResponses('conflict', 'too_large', 'unsupported_media_type'),
          200: createdInvoiceSchema.describe('It was there already, with this very content'),
          201: createdInvoiceSchema.describe('Created'),
        },
      },
    },
    async (request, reply) => {
      const draft: unknown = request.body;
      const { invoiceId, created, customerDiffers } = await needs.createDraft(draft);
      const invoice = await find({ id: invoiceId });
      locate(reply, invoice).code(created ? 201 : 200);
      return { ...invoiceJson(invoice), warnings: customerDiffers ? [CUSTOMER_DIFFERS] : [] };
    },
  );

  routes.get(
    '/invoices',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['Invoices'],
        summary: 'List invoices, newest first',
        querystring: pageQuery,
        response: {
          ...problemResponses(),
          200: z
            .object({ data: z.array(invoiceSummarySchema), nextCursor: z.string().nullable() })
            .meta({ id: 'InvoicePage', description: 'nextCursor is null on the last page' }),
        },
      },
    },
    async (request) => {
      const { status, limit, cursor } = request.query;
      const page = await invoices.list({ limit, ...(status && { status }), ...(cursor && { cursor }) });
      return { data: page.data.map(invoiceSummaryJson), nextCursor: page.nextCursor };
    },
  );

  routes.get(
    '/invoices/:id',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['Invoices'],
        summary: 'Look at an invoice',
        params: referenceParams,
        response: { ...problemResponses('not_found'), 200: invoiceSchema },
      },
    },
    async (request) => invoiceJson(await find(parseReference(request.params.id))),
  );

  routes.post(
    '/invoices/:id/finalize',
    {
      config: { scope: 'write' },
      schema: {
        tags: ['Invoices'],
        summary: 'Ask for a draft to be finalized',
        description:
          'The request is stored before it is answered: a worker then numbers the invoice, charges it and sends the receipt. Asked again, it answers the same. Takes no body.',
        params: referenceParams,
        response: {
          ...problemResponses('not_found', 'conflict'),
          200: finalizedSchema.describe('It is finalized already'),
          202: acceptedSchema.describe('Accepted'),
        },
      },
    },
    async (request, reply) => {
      refuseBody(request.body);
      const result = await needs.requestFinalization(parseReference(request.params.id), {
        actor: actorOf(request),
      });
      const invoice = await find({ id: result.invoiceId });
      if (result.kind === 'already_finalized') return reply.code(200).send({ invoice: invoiceJson(invoice) });
      return locate(reply, invoice)
        .code(202)
        .send({
          invoice: invoiceJson(invoice),
          job: result.job,
          queued: result.job !== null,
          statusUrl: pathOf(invoice),
        });
    },
  );

  async function find(reference: Reference): Promise<InvoiceView> {
    const invoice = await invoices.get(reference);
    if (!invoice) throw new BillingError('not_found', 'There is no such invoice');
    return invoice;
  }
}

const CUSTOMER_DIFFERS = {
  field: 'customer',
  code: 'customer_differs',
  message: 'The customer is known with other data, which was kept',
};

function locate(reply: FastifyReply, invoice: InvoiceView): FastifyReply {
  return reply.header('location', pathOf(invoice));
}

function pathOf({ id }: InvoiceView): string {
  return `/v1/invoices/${id}`;
}

/** Somebody who sends options here believes in something that does not exist. */
function refuseBody(body: unknown): void {
  if (body === undefined || body === null) return;
  if (typeof body === 'object' && Object.keys(body).length === 0) return;
  const message = 'This takes no body: leave it out';
  throw new BillingError('invalid', message, { faults: [{ field: '', code: 'unexpected_body', message }] });
}
