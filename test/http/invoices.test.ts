import { describe, expect, test } from 'vitest';
import { draftBody } from '../support/drafts.ts';
import { KEYS, openHttpWorld } from '../support/http-world.ts';

const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000';

describe('POST /v1/invoices', () => {
  test('creates a draft and answers with it, its amounts as text and in minor units', async () => {
    await using world = await openHttpWorld();
    const answer = await world.call('POST', '/v1/invoices', { body: draftBody() });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('location')).toBe(`/v1/invoices/${answer.body.id}`);
    expect(answer.body).toMatchObject({
      externalId: 'order-1',
      number: null,
      status: 'draft',
      customer: { externalId: 'acme' },
      currency: 'EUR',
      total: '12.34',
      totalMinor: '1234',
      due: '12.34',
      dueMinor: '1234',
      paid: '0.00',
      paidMinor: '0',
      lines: [{ description: 'Work', quantity: '2', unitPrice: '6.17', net: '12.34', netMinor: '1234' }],
      payments: [],
      warnings: [],
    });
    expect(answer.body.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test('answers 200 with the same invoice when the same content comes again', async () => {
    await using world = await openHttpWorld();
    const first = await world.call('POST', '/v1/invoices', { body: draftBody() });
    const second = await world.call('POST', '/v1/invoices', { body: draftBody() });
    expect(second.status).toBe(200);
    expect(second.body.id).toBe(first.body.id);
  });

  test('answers 409 when the external id is taken by other content', async () => {
    await using world = await openHttpWorld();
    await world.call('POST', '/v1/invoices', { body: draftBody() });
    const answer = await world.call('POST', '/v1/invoices', { body: draftBody({ currency: 'USD' }) });
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({
      type: 'urn:billonce:problem:conflict',
      status: 409,
      code: 'conflict',
      errors: [{ field: 'externalId', code: 'different_content' }],
    });
  });

  test('warns where the customer is known with other data', async () => {
    await using world = await openHttpWorld();
    await world.call('POST', '/v1/invoices', { body: draftBody() });
    const customer = { externalId: 'acme', name: 'Acme GmbH' };
    const answer = await world.call('POST', '/v1/invoices', {
      body: draftBody({ externalId: 'order-2', customer }),
    });
    expect(answer.status).toBe(201);
    expect(answer.body.warnings).toMatchObject([{ field: 'customer', code: 'customer_differs' }]);
  });

  test('names every fault of a draft at once', async () => {
    await using world = await openHttpWorld();
    const lines = [{ description: 'Work', quantity: 'two', unitPrice: '6.17' }];
    const body = draftBody({ currency: 'EURO', lines, surprise: 1 });
    const answer = await world.call('POST', '/v1/invoices', { body });
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(answer.body.code).toBe('invalid');
    const fields = answer.body.errors.map((fault: { field: string }) => fault.field);
    expect(fields).toEqual(expect.arrayContaining(['currency', 'lines[0].quantity', 'surprise']));
  });

  test('takes a draft with 10 000 lines', async () => {
    await using world = await openHttpWorld();
    const line = {
      description: 'A line with a description of a usual length',
      quantity: '1',
      unitPrice: '0.01',
    };
    const body = draftBody({ lines: Array.from({ length: 10_000 }, () => line) });
    const answer = await world.call('POST', '/v1/invoices', { body });
    expect(answer.status).toBe(201);
    expect(answer.body.totalMinor).toBe('10000');
  });

  test('names the missing body', async () => {
    await using world = await openHttpWorld();
    const answer = await world.call('POST', '/v1/invoices');
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe('invalid');
  });
});

describe('GET /v1/invoices/:id', () => {
  test('finds an invoice by our id and by the external one', async () => {
    await using world = await openHttpWorld();
    const externalId = 'order/ä 1';
    const created = await world.call('POST', '/v1/invoices', { body: draftBody({ externalId }) });
    const byId = await world.call('GET', `/v1/invoices/${created.body.id}`);
    const byExternalId = await world.call('GET', `/v1/invoices/${encodeURIComponent(`ext:${externalId}`)}`);
    expect(byId.status).toBe(200);
    expect(byExternalId.body).toEqual(byId.body);
  });

  test.each([
    [UNKNOWN_ID, 404],
    ['ext:nobody', 404],
    ['order-1', 400],
    ['ext:', 400],
    ['ext:a%00b', 400],
    [`ext:${'x'.repeat(900)}`, 400],
  ])('answers %s with %i', async (id, status) => {
    await using world = await openHttpWorld();
    const answer = await world.call('GET', `/v1/invoices/${id}`);
    expect(answer.status).toBe(status);
    expect(answer.body.status).toBe(status);
  });
});

describe('GET /v1/invoices', () => {
  test('pages through all of them, newest first, none twice', async () => {
    await using world = await openHttpWorld();
    const ids: string[] = [];
    for (let n = 1; n <= 5; n += 1) {
      const created = await world.call('POST', '/v1/invoices', {
        body: draftBody({ externalId: `order-${n}` }),
      });
      ids.unshift(created.body.id);
    }
    const seen: string[] = [];
    let path = '/v1/invoices?limit=2';
    for (let pages = 0; pages < 4 && path !== ''; pages += 1) {
      const { status, body } = await world.call('GET', path);
      expect(status).toBe(200);
      seen.push(...body.data.map((invoice: { id: string }) => invoice.id));
      path =
        body.nextCursor === null ? '' : `/v1/invoices?limit=2&cursor=${encodeURIComponent(body.nextCursor)}`;
    }
    expect(seen).toEqual(ids);
  });

  test('filters by status', async () => {
    await using world = await openHttpWorld();
    const { body } = await world.call('POST', '/v1/invoices', { body: draftBody() });
    world.stores.change(body.id, { status: 'paid', number: 'INV-2026-000001' });
    const paid = await world.call('GET', '/v1/invoices?status=paid');
    const drafts = await world.call('GET', '/v1/invoices?status=draft');
    expect(paid.body.data).toMatchObject([{ id: body.id, number: 'INV-2026-000001' }]);
    expect(drafts.body).toEqual({ data: [], nextCursor: null });
  });

  test.each([
    'status=gone',
    'limit=0',
    'limit=101',
    'limit=2.5',
    'limit=x',
    'status=paid&status=open',
    'page=2',
    'cursor=nonsense',
  ])('refuses ?%s and names the parameter', async (query) => {
    await using world = await openHttpWorld();
    const answer = await world.call('GET', `/v1/invoices?${query}`);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(query.slice(0, query.indexOf('=')));
  });
});

describe('POST /v1/invoices/:id/finalize', () => {
  test('accepts the wish, says where the job is, and answers the same when asked again', async () => {
    await using world = await openHttpWorld();
    const { body: draft } = await world.call('POST', '/v1/invoices', { body: draftBody() });
    const first = await world.call('POST', `/v1/invoices/${draft.id}/finalize`);
    expect(first.status).toBe(202);
    expect(first.body).toMatchObject({
      invoice: { id: draft.id, status: 'draft' },
      job: { queue: 'billing', id: `finalize-invoice-${draft.id}` },
      queued: true,
      statusUrl: `/v1/invoices/${draft.id}`,
    });
    expect(first.body.invoice.finalizeRequestedAt).not.toBeNull();
    const second = await world.call('POST', '/v1/invoices/ext:order-1/finalize');
    expect(second.status).toBe(202);
    expect(second.body).toEqual(first.body);
  });

  test('answers 200 with the invoice once it is finalized', async () => {
    await using world = await openHttpWorld();
    const { body: draft } = await world.call('POST', '/v1/invoices', { body: draftBody() });
    world.stores.change(draft.id, { status: 'open', number: 'INV-2026-000001', issueDate: '2026-01-31' });
    const answer = await world.call('POST', `/v1/invoices/${draft.id}/finalize`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ invoice: { number: 'INV-2026-000001', issueDate: '2026-01-31' } });
    expect(Object.keys(answer.body)).toEqual(['invoice']);
  });

  test('is accepted all the same while the queues are away', async () => {
    await using world = await openHttpWorld({
      requestFinalization: async (reference) => ({
        kind: 'accepted',
        invoiceId: 'id' in reference ? reference.id : '',
        job: null,
      }),
    });
    const { body: draft } = await world.call('POST', '/v1/invoices', { body: draftBody() });
    const answer = await world.call('POST', `/v1/invoices/${draft.id}/finalize`);
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({ job: null, queued: false });
  });

  test('names the key in the trail', async () => {
    await using world = await openHttpWorld();
    const { body: draft } = await world.call('POST', '/v1/invoices', { body: draftBody() });
    await world.call('POST', `/v1/invoices/${draft.id}/finalize`, { key: KEYS.write });
    expect(world.stores.actors).toEqual(['key:writer']);
  });

  test('takes no body, but minds neither an empty one nor its content type', async () => {
    await using world = await openHttpWorld();
    await world.call('POST', '/v1/invoices', { body: draftBody() });
    const path = '/v1/invoices/ext:order-1/finalize';
    const empty = await world.call('POST', path, { headers: { 'content-type': 'application/json' } });
    const braces = await world.call('POST', path, { body: {} });
    const options = await world.call('POST', path, { body: { charge: false } });
    expect([empty.status, braces.status, options.status]).toEqual([202, 202, 400]);
  });

  test('answers 404 for an invoice that does not exist', async () => {
    await using world = await openHttpWorld();
    const answer = await world.call('POST', `/v1/invoices/${UNKNOWN_ID}/finalize`);
    expect(answer.status).toBe(404);
    expect(answer.body.code).toBe('not_found');
  });
});
