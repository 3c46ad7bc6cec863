import { BillingError } from '../errors.ts';
import type { Reference } from '../operations/ports.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const EXTERNAL = 'ext:';

/** @throws BillingError `invalid` */
export function parseReference(text: string): Reference {
  if (text.startsWith(EXTERNAL) && text.length > EXTERNAL.length)
    return { externalId: text.slice(EXTERNAL.length) };
  if (UUID.test(text)) return { id: text.toLowerCase() };
  throw new BillingError('invalid', `${text} is neither an invoice's id nor ext:<external id>`);
}
