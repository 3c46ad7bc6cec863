import { z } from 'zod';
import { BillingError } from '../errors.ts';
import type { Reference } from '../operations/ports.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Control characters and halves of surrogate pairs are in no external id. */
const EXTERNAL = /^ext:([^\p{Cc}\p{Surrogate}]{1,200})$/u;

export const referenceParams = z.object({
  id: z.string().describe('Our id (a UUID), or `ext:` followed by your own'),
});

/** @throws BillingError `invalid` */
export function parseReference(text: string): Reference {
  if (UUID.test(text)) return { id: text.toLowerCase() };
  const externalId = EXTERNAL.exec(text)?.[1];
  if (externalId !== undefined) return { externalId };
  const message = 'id must be a UUID, or ext: followed by an external id';
  throw new BillingError('invalid', message, { faults: [{ field: 'id', code: 'invalid_id', message }] });
}
