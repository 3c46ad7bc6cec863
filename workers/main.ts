/** The production process behind `npm run worker`. */
import { loadEnvFile, readConfig } from '../src/config.ts';
import { runProcess } from '../src/process.ts';
import { startWorkers } from './start-workers.ts';

await runProcess(async () => {
  loadEnvFile();
  return startWorkers(readConfig(process.env, ['database', 'redis', 'mail', 'gateway']));
});
