import { expect, test } from 'vitest';
import { openHttpWorld } from '../support/http-world.ts';

const ACME = {
  externalId: 'acme',
  name: 'Acme Ltd',
  email: 'books@acme.example',
  address: { line1: '1 Main Street', city: 'Springfield', country: 'US' },
  locale: 'en-US',
  timeZone: 'America/Chicago',
};

test('a customer is created once, and found by either id', async () => {
  await using world = await openHttpWorld();
  const created = await world.call('POST', '/v1/customers', { body: ACME });
  expect(created.status).toBe(201);
  expect(created.headers.get('location')).toBe(`/v1/customers/${created.body.id}`);
  expect(created.body).toMatchObject({
    externalId: 'acme',
    emails: ['books@acme.example'],
    address: { line1: '1 Main Street', line2: null, city: 'Springfield', country: 'US' },
    taxNumber: null,
  });
  const again = await world.call('POST', '/v1/customers', { body: ACME });
  expect([again.status, again.body.id]).toEqual([200, created.body.id]);
  const byId = await world.call('GET', `/v1/customers/${created.body.id}`);
  const byExternalId = await world.call('GET', '/v1/customers/ext:acme');
  expect(byId.body).toEqual(created.body);
  expect(byExternalId.body).toEqual(created.body);
});

test('other data under a known external id is refused', async () => {
  await using world = await openHttpWorld();
  await world.call('POST', '/v1/customers', { body: ACME });
  const answer = await world.call('POST', '/v1/customers', { body: { ...ACME, name: 'Acme GmbH' } });
  expect(answer.status).toBe(409);
  expect(answer.body.errors).toMatchObject([{ field: 'externalId', code: 'different_content' }]);
});

test('each fault is named by its field', async () => {
  await using world = await openHttpWorld();
  const answer = await world.call('POST', '/v1/customers', {
    body: { externalId: 7, emails: ['no'], colour: 'red' },
  });
  expect(answer.status).toBe(400);
  const fields = answer.body.errors.map((fault: { field: string }) => fault.field);
  expect(fields).toEqual(expect.arrayContaining(['externalId', 'name', 'emails[0]', 'colour']));
});

test('a customer that does not exist is 404', async () => {
  await using world = await openHttpWorld();
  const answer = await world.call('GET', '/v1/customers/ext:nobody');
  expect(answer.status).toBe(404);
});
