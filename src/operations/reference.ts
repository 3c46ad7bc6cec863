import type { Reference } from './ports.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Control characters and halves of surrogate pairs are in no external id. */
const EXTERNAL = /^ext:([^\p{Cc}\p{Surrogate}]{1,200})$/u;

/** An id, or `ext:` followed by an external id, as the API and the command line take them; null if it is neither. */
export function readReference(text: string): Reference | null {
  if (UUID.test(text)) return { id: text.toLowerCase() };
  const externalId = EXTERNAL.exec(text)?.[1];
  return externalId === undefined ? null : { externalId };
}
