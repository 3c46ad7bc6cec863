const LENGTH_MIN = 5;
const LENGTH_MAX = 22;
/** Card networks forbid these in a descriptor, and they take upper-case ASCII best. */
const ALLOWED = /[^A-Z0-9 .,&/-]/g;

/** What the customer reads on the bank statement: the seller's name, 5–22 characters of plain ASCII. */
export function statementDescriptor(sellerName: string): string {
  const folded = sellerName.normalize('NFKD').replace(/\p{M}/gu, '').toUpperCase().replace(ALLOWED, ' ');
  const name = folded.replace(/\s+/g, ' ').trim().slice(0, LENGTH_MAX).trim();
  return name.length >= LENGTH_MIN ? name : `${name} INVOICE`.trim();
}
