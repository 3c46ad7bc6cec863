/** Customers over HTTP. */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { BillingError } from '../errors.ts';
import { customerInputSchema, parseCustomer } from '../operations/customer-input.ts';
import type { CustomerInput, CustomerStore, CustomerView } from '../operations/ports.ts';
import { CUSTOMER_EXAMPLE } from './examples.ts';
import { problemResponses } from './problem.ts';
import { parseReference, referenceParams } from './references.ts';
import { checkedByOperation } from './schemas.ts';

export interface CustomerNeeds {
  customers: Pick<CustomerStore, 'create' | 'get'>;
}

const text = z.string().nullable();
const customerSchema = z
  .object({
    id: z.uuid(),
    externalId: z.string(),
    name: z.string(),
    emails: z.array(z.string()),
    address: z
      .object({ line1: text, line2: text, city: text, state: text, postalCode: text, country: text })
      .nullable(),
    locale: text,
    timeZone: text,
    taxNumber: text,
    paymentMethod: text,
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Customer' });

export function registerCustomers(fastify: FastifyInstance, { customers }: CustomerNeeds): void {
  const routes = fastify.withTypeProvider<ZodTypeProvider>();

  routes.post(
    '/customers',
    {
      config: { scope: 'write' },
      validatorCompiler: checkedByOperation,
      schema: {
        tags: ['Customers'],
        summary: 'Create a customer',
        description:
          'Twice with the same data: 200, and nothing changes. `externalId` taken by other data: 409.',
        body: customerInputSchema.meta({ examples: [CUSTOMER_EXAMPLE] }),
        response: {
          ...problemResponses('conflict', 'too_large', 'unsupported_media_type'),
          200: customerSchema.describe('It was there already, with this very data'),
          201: customerSchema.describe('Created'),
        },
      },
    },
    async (request, reply) => {
      const { kind, customer } = await customers.create(readCustomer(request.body));
      if (kind === 'different') throw differentData();
      reply.code(kind === 'created' ? 201 : 200).header('location', `/v1/customers/${customer.id}`);
      return customerJson(customer);
    },
  );

  routes.get(
    '/customers/:id',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['Customers'],
        summary: 'Look at a customer',
        params: referenceParams,
        response: { ...problemResponses('not_found'), 200: customerSchema },
      },
    },
    async (request) => {
      const customer = await customers.get(parseReference(request.params.id));
      if (!customer) throw new BillingError('not_found', 'There is no such customer');
      return customerJson(customer);
    },
  );
}

function readCustomer(body: unknown): CustomerInput {
  const parsed = parseCustomer(body);
  if (parsed.ok) return parsed.customer;
  throw new BillingError('invalid', 'The customer has faults; errors names each of them', {
    faults: parsed.faults,
  });
}

function differentData(): BillingError {
  const message = 'externalId is taken by a customer with other data: use another one';
  return new BillingError('conflict', message, {
    faults: [{ field: 'externalId', code: 'different_content', message }],
  });
}

function customerJson(customer: CustomerView): z.output<typeof customerSchema> {
  const { address } = customer;
  return {
    ...customer,
    emails: [...customer.emails],
    address: address && {
      line1: address.line1 ?? null,
      line2: address.line2 ?? null,
      city: address.city ?? null,
      state: address.state ?? null,
      postalCode: address.postalCode ?? null,
      country: address.country ?? null,
    },
    createdAt: customer.createdAt.toISOString(),
    updatedAt: customer.updatedAt.toISOString(),
  };
}
