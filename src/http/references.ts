import { z } from 'zod';
import { BillingError } from '../errors.ts';
import type { Reference } from '../operations/ports.ts';
import { readReference } from '../operations/reference.ts';

export const referenceParams = z.object({
  id: z.string().describe('Our id (a UUID), or `ext:` followed by your own'),
});

/** @throws BillingError `invalid` */
export function parseReference(text: string): Reference {
  const reference = readReference(text);
  if (reference) return reference;
  const message = 'id must be a UUID, or ext: followed by an external id';
  throw new BillingError('invalid', message, { faults: [{ field: 'id', code: 'invalid_id', message }] });
}
