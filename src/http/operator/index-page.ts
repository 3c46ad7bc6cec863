import type { FastifyInstance } from 'fastify';
import { renderPage } from './page.ts';

const PAGE = renderPage({
  title: 'Invoice billing',
  body: `<h1>It bills once.</h1>
<p class="lead">Where to go from here:</p>
<ul>
<li><a href="/docs">API<small>Read it and try it at /docs</small></a></li>
<li><a href="/admin/queues">Job queues<small>For operators, at /admin/queues</small></a></li>
<li><a href="/readyz">Readiness<small>Can it do its work? At /readyz</small></a></li>
</ul>`,
});

/** What a person sees who opens the bare address. */
export function registerIndex(fastify: FastifyInstance): void {
  fastify.get('/', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(PAGE),
  );
}
