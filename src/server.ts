/** The production process behind `npm run api`. */
import type { AddressInfo } from 'node:net';
import { type App, openApp } from './app.ts';
import { type Config, loadEnvFile, readConfig } from './config.ts';
import { buildHttpServer } from './http/server.ts';
import { type RunningProcess, runProcess } from './process.ts';

await runProcess(async () => {
  loadEnvFile();
  return startApi(readConfig(process.env, ['database', 'redis', 'api', 'board']));
});

async function startApi(config: Config): Promise<RunningProcess> {
  const app = openApp(config, { processName: 'api' });
  try {
    await app.awaitApiServices();
    const server = httpServer(app);
    await server.listen({ host: config.api.host, port: config.api.port });
    const { port } = server.server.address() as AddressInfo;
    app.log.info({ listening: `http://${config.api.host}:${port}` }, 'API started');
    return {
      async stop() {
        app.log.info({}, 'stopping: requests under way are answered');
        await server.close();
        await app.close();
        return 'clean';
      },
    };
  } catch (error) {
    await app.close();
    throw error;
  }
}

function httpServer(app: App) {
  const { api, board, production } = app.config;
  return buildHttpServer({
    production,
    apiKeys: api.keys,
    board,
    log: app.log,
    createDraft: app.createDraft(),
    requestFinalization: app.requestFinalization(),
    invoices: app.invoices(),
    customers: app.customers(),
    queues: Object.values(app.queues().byName),
    health: { live: () => undefined, ready: app.apiReadiness },
  });
}
