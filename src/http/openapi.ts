/** The contract, at `/openapi.json`, and the same to read and to try at `/docs`. Both come from the routes' schemas. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';

const DESCRIPTION = `Drafts come in, and each is finalized once, numbered without gaps, charged and receipted.

Amounts are decimal strings, each beside the same amount in minor units (\`total: "12.34"\`, \`totalMinor: "1234"\`).
Timestamps are in UTC, dates are local (YYYY-MM-DD). An invoice or a customer is named by our id or by yours, as
\`ext:<external id>\`. Sending the same thing twice changes nothing. A refusal names every fault at once.`;

/** Goes before the routes, which it listens for. */
export function registerOpenApi(fastify: FastifyInstance): void {
  fastify.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Billonce', version: '1', description: DESCRIPTION },
      tags: [
        { name: 'Invoices', description: 'Drafts, their finalization and what became of them' },
        { name: 'Customers', description: 'Whom the invoices are for' },
        { name: 'Health', description: 'For supervisors; no key is needed' },
      ],
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'A key of API_KEYS (the key itself, not its hash)',
          },
        },
      },
      security: [{ bearer: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: (document) => withoutUnused(jsonSchemaTransformObject(document) as OpenApiDocument),
  });
  fastify.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'Billonce API' },
    uiConfig: {
      layout: 'BaseLayout',
      validatorUrl: null,
      deepLinking: true,
      displayRequestDuration: true,
      tryItOutEnabled: true,
      defaultModelsExpandDepth: 0,
    },
  });
  // Registered like the routes, since the document is complete only when they are.
  fastify.register(async (routes) => {
    routes.get('/openapi.json', { schema: { hide: true } }, async () => fastify.swagger());
  });
}

type OpenApiDocument = Extract<ReturnType<typeof jsonSchemaTransformObject>, { components?: unknown }>;

/** Each named schema is written out as input and as output, of which most routes use one. */
function withoutUnused(document: OpenApiDocument): OpenApiDocument {
  const schemas = document.components?.schemas ?? {};
  const used = new Set<string>();
  const visit = (part: unknown) => {
    for (const [, name = ''] of JSON.stringify(part ?? null).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      visit(schemas[name]);
    }
  };
  visit(document.paths);
  const kept = Object.entries(schemas).filter(([name]) => used.has(name));
  return {
    ...document,
    components: { ...document.components, schemas: Object.fromEntries(kept) },
  } as OpenApiDocument;
}
