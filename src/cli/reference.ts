import { BillingError } from '../errors.ts';
import type { Reference } from '../operations/ports.ts';
import { readReference } from '../operations/reference.ts';

/** @throws BillingError `invalid` */
export function parseReference(text: string): Reference {
  const reference = readReference(text);
  if (reference) return reference;
  throw new BillingError('invalid', `${text} is neither an invoice's id nor ext:<external id>`);
}
