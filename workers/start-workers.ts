import { openApp } from '../src/app.ts';
import type { Config } from '../src/config.ts';
import type { RunningProcess } from '../src/process.ts';
import { startInvoiceFinalizer } from './invoice-finalizer.ts';
import { startMailSender } from './mail-sender.ts';
import { stopWorkers } from './stop-workers.ts';

/** Every worker of this application in one process, with its health and an orderly stop. */
export async function startWorkers(config: Config): Promise<RunningProcess> {
  const app = openApp(config, { processName: 'worker' });
  try {
    await app.awaitWorkerServices();
    const health = config.worker.port === null ? null : await app.startHealthServer(config.worker.port);
    const workers = [startInvoiceFinalizer(app), startMailSender(app)];
    app.log.info({ queues: workers.map((worker) => worker.name) }, 'worker started');
    return {
      async stop() {
        app.log.info({}, 'stopping: no new jobs are taken');
        const how = await stopWorkers(workers);
        await health?.close();
        await app.close();
        app.log.info({ how }, 'stopped');
        return how;
      },
    };
  } catch (error) {
    await app.close();
    throw error;
  }
}
