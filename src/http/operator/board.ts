/**
 * The job queues, to be looked at. Read-only: the board refuses every change on the server, not only by leaving its
 * buttons out.
 */
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import type { Queue } from 'bullmq';
import type { FastifyInstance } from 'fastify';
import type { Log } from '../../operations/ports.ts';
import { ICON } from './page.ts';

const PATH = '/admin/queues';
const SYSTEM_FONT = 'system-ui, sans-serif';
const ID_LENGTH_MAX = 64;

/** Under the prefix `/admin`, at `queues`. Whoever may see it is decided around it. */
export function registerBoard(fastify: FastifyInstance, needs: { queues: readonly Queue[]; log: Log }): void {
  const server = new FastifyAdapter().setBasePath(PATH);
  createBullBoard({
    queues: needs.queues.map(readOnlyAdapter),
    serverAdapter: server,
    options: {
      handlerHooks: {
        before: ({ method }) =>
          method === 'get'
            ? { allow: true }
            : { allow: false, status: 405, message: 'This board is read-only' },
      },
      uiConfig: {
        boardTitle: 'Billonce',
        boardLogo: { path: ICON, width: 24, height: 24 },
        favIcon: { default: ICON, alternative: ICON },
        hideDocsLink: true,
        miscLinks: [
          { text: 'API', url: '/docs' },
          { text: 'Log out', url: '/admin/logout' },
        ],
        theme: { light: { 'font-sans': SYSTEM_FONT }, dark: { 'font-sans': SYSTEM_FONT } },
      },
    },
  });
  server.setErrorHandler((error) => {
    needs.log.warn({ err: error }, 'the board could not read the queues');
    return {
      status: 500,
      body: { error: { key: 'ERRORS.INTERNAL_SERVER_ERROR' }, message: 'Redis did not answer' },
    };
  });
  fastify.register(
    async (board) => {
      board.addHook('onSend', async (_request, reply, payload) => {
        const isPage = String(reply.getHeader('content-type')).startsWith('text/html');
        return isPage && typeof payload === 'string' ? withoutOutsideFonts(payload) : payload;
      });
      await board.register(server.registerPlugin());
    },
    { prefix: '/queues' },
  );
}

/** Without the state of flows, which nothing here uses: its tab would push the failed jobs out of sight. */
class Adapter extends BullMQAdapter {
  override getJobStatuses() {
    return super.getJobStatuses().filter((status) => status !== 'waiting-children');
  }
}

function readOnlyAdapter(queue: Queue): BullMQAdapter {
  const adapter = new Adapter(queue, { readOnlyMode: true, allowRetries: false });
  adapter.setFormatter('data', redact);
  return adapter;
}

/** Payloads hold ids only. Anything else was put there by somebody, and is not shown. */
function redact(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return '[redacted]';
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => {
      const isId = /id$/i.test(name) && typeof value === 'string' && value.length <= ID_LENGTH_MAX;
      return [name, isId ? value : '[redacted]'];
    }),
  );
}

/** Our pages load nothing from elsewhere, and the policy that says so would fill the browser's console. */
function withoutOutsideFonts(page: string): string {
  return page.replace(/<link [^>]*fonts\.googleapis\.com[^>]*>/g, '');
}
