import type { FastifyInstance } from 'fastify';

/**
 * JSON is the only body that the API takes. An empty one counts as none: many clients send the content type with
 * every POST. Names such as `__proto__` are refused, wherever they stand.
 */
export function acceptJsonOnly(fastify: FastifyInstance): void {
  const parse = fastify.getDefaultJsonParser('error', 'error');
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else void parse(request, String(body), done);
  });
}
