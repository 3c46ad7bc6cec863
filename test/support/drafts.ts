/** A draft that nothing is wrong with, to be changed where a test needs it. */
export function draftBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    externalId: 'order-1',
    currency: 'EUR',
    customer: { externalId: 'acme', name: 'Acme Ltd', email: 'books@acme.example' },
    lines: [{ description: 'Work', quantity: '2', unitPrice: '6.17' }],
    ...changes,
  };
}
