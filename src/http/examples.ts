/** What the documentation offers to send. Both speak of one customer, so that trying one does not spoil the other. */
export const CUSTOMER_EXAMPLE = {
  externalId: 'customer-1',
  name: 'Ann Example Ltd',
  email: 'ann@example.com',
  address: { line1: '1 Main Street', city: 'Vienna', postalCode: '1010', country: 'AT' },
  locale: 'en-GB',
  timeZone: 'Europe/Vienna',
  paymentMethod: 'pm_ok',
};

export const DRAFT_EXAMPLE = {
  externalId: 'order-1001',
  customer: CUSTOMER_EXAMPLE,
  currency: 'EUR',
  lines: [
    { description: 'Consulting, hours', quantity: '2.5', unitPrice: '80.00', taxRatePercent: '20' },
    { description: 'Handbook', quantity: '1', unitPrice: '19.90', taxRatePercent: '10' },
  ],
  dueInDays: 14,
};
