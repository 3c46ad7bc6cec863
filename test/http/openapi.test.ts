import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildHttpServer } from '../../src/http/server.ts';
import { type HttpWorld, openHttpWorld } from '../support/http-world.ts';

type Json = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: a document of another shape would fail the tests
type Document = any;

let world: HttpWorld;
let document: Document;
beforeAll(async () => {
  world = await openHttpWorld();
  document = (await world.call('GET', '/openapi.json', { key: null })).body;
});
afterAll(() => world[Symbol.asyncDispose]());

describe('/openapi.json', () => {
  test('is OpenAPI 3.1 with a title, a version and paths', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    expect(document.info).toMatchObject({ title: 'Billonce', version: expect.any(String) });
    expect(Object.keys(document.paths).length).toBeGreaterThan(5);
  });

  test('describes every route of the API, and no other', async () => {
    const routes: string[] = [];
    const server = buildHttpServer(world.needs);
    server.addHook('onRoute', ({ method, url }) => {
      for (const each of [method].flat()) routes.push(`${each} ${url.replace(/:(\w+)/g, '{$1}')}`);
    });
    await server.ready();
    await server.close();
    const expected = routes.filter(
      (route) =>
        !/^(HEAD|OPTIONS) /.test(route) &&
        !/ \/(admin|docs)(\/|$)/.test(route) &&
        !/ (\/|\/openapi.json)$/.test(route),
    );
    const described = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual([...new Set(expected)].sort());
    expect(described).toContain('POST /v1/invoices/{id}/finalize');
  });

  test('every reference leads somewhere, and no schema lies about unused', () => {
    const text = JSON.stringify(document);
    const names = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name);
    expect(new Set(names)).toEqual(new Set(Object.keys(document.components.schemas)));
    expect([...text.matchAll(/"\$ref":"(?!#\/components\/schemas\/)/g)]).toEqual([]);
  });

  test('every path parameter is declared', () => {
    for (const [path, item] of Object.entries<Record<string, Document>>(document.paths)) {
      for (const operation of Object.values(item)) {
        const declared = (operation.parameters ?? []).filter((parameter: Json) => parameter.in === 'path');
        const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
        expect(declared.map((parameter: Json) => parameter.name)).toEqual(names);
        for (const parameter of declared) expect(parameter.required).toBe(true);
      }
    }
  });

  test('every operation below /v1 needs a key and says how it refuses', () => {
    expect(document.components.securitySchemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' });
    for (const [path, item] of Object.entries<Record<string, Document>>(document.paths)) {
      for (const operation of Object.values(item)) {
        expect(operation.summary).toEqual(expect.any(String));
        if (!path.startsWith('/v1')) {
          expect(operation.security).toEqual([]);
          continue;
        }
        expect(operation.security ?? document.security).toEqual([{ bearer: [] }]);
        for (const status of ['400', '401', '403', '429', '500', '503']) {
          const content = operation.responses[status].content['application/problem+json'];
          expect(content.schema).toEqual({ $ref: '#/components/schemas/Problem' });
        }
      }
    }
  });

  test('the draft is described with its lines and without what may be left out', () => {
    const { schema } = document.paths['/v1/invoices'].post.requestBody.content['application/json'];
    expect(schema.required).toEqual(['externalId', 'customer', 'currency', 'lines']);
    expect(schema.properties.lines.items.required).toEqual(['description', 'quantity', 'unitPrice']);
    expect(schema.additionalProperties).toBe(false);
  });

  test.each(['/v1/invoices', '/v1/customers'])(
    'the example of POST %s can be sent as it is',
    async (path) => {
      const { example } = document.paths[path].post.requestBody.content['application/json'];
      await using fresh = await openHttpWorld();
      const answer = await fresh.call('POST', path, { body: example });
      expect(answer.status).toBe(201);
    },
  );

  test('/docs shows it without the internet', async () => {
    const page = await world.call('GET', '/docs', { key: null });
    expect(page.status).toBe(200);
    expect(page.body).not.toMatch(/(src|href)="(https?:)?\/\//);
  });
});
