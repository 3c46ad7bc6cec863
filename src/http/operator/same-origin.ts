import type { FastifyRequest } from 'fastify';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * False for a change that a page of another origin may have caused. Browsers say where a request comes from in
 * `Sec-Fetch-Site`, or over plain HTTP in `Origin` alone; whoever sends neither is refused as well.
 */
export function isOwnRequest(request: FastifyRequest): boolean {
  if (SAFE_METHODS.has(request.method)) return true;
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin } = request.headers;
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === request.host;
}
