import { isDeepStrictEqual } from 'node:util';
import { v7 as uuidv7 } from 'uuid';
import type { Address, CustomerInput, CustomerStore, CustomerView, Reference } from '../operations/ports.ts';
import { type Customer as CustomerRow, Prisma, type PrismaClient } from './generated/client.ts';

/** The customers' rows. Contracts: `CustomerStore`. */
export function openCustomerStore(prisma: PrismaClient): CustomerStore {
  return {
    create: (input) => createCustomer(prisma, input),
    async get(reference: Reference) {
      const row = await prisma.customer.findUnique({ where: reference });
      return row ? viewOf(row) : null;
    },
  };
}

/** Inserts unless the external id is known; never changes a customer that exists. */
export async function createCustomer(
  prisma: PrismaClient,
  input: CustomerInput,
): Promise<{ kind: 'created' | 'unchanged' | 'different'; customer: CustomerView }> {
  const { count } = await prisma.customer.createMany({
    data: [
      {
        id: uuidv7(),
        ...input,
        emails: [...input.emails],
        address: input.address ? { ...input.address } : Prisma.DbNull,
      },
    ],
    skipDuplicates: true,
  });
  const row = await prisma.customer.findUniqueOrThrow({ where: { externalId: input.externalId } });
  const customer = viewOf(row);
  if (count > 0) return { kind: 'created', customer };
  return {
    kind: isDeepStrictEqual(comparable(customer), comparable(input)) ? 'unchanged' : 'different',
    customer,
  };
}

function viewOf(row: CustomerRow): CustomerView {
  const { id, externalId, name, emails, locale, timeZone, taxNumber, paymentMethod, createdAt, updatedAt } =
    row;
  const address = row.address as Address | null;
  return {
    id,
    externalId,
    name,
    emails,
    address,
    locale,
    timeZone,
    taxNumber,
    paymentMethod,
    createdAt,
    updatedAt,
  };
}

/** Without what an import does not carry: a payment method that was added later is no difference. */
function comparable(customer: CustomerInput): object {
  const { externalId, name, emails, locale, timeZone, taxNumber } = customer;
  const address = Object.entries(customer.address ?? {}).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return {
    externalId,
    name,
    emails: [...emails],
    locale,
    timeZone,
    taxNumber,
    address: Object.fromEntries(address),
  };
}
