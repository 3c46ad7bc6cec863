import type { App } from '../src/app.ts';
import { handle } from '../src/bullmq/worker.ts';
import { sendMailJob } from '../src/jobs/catalog.ts';

/** SMTP servers take few connections at a time from one client. */
const CONCURRENCY = 5;

/** Hands one e-mail over to SMTP. */
export function startMailSender(app: App) {
  return app.startWorker({
    name: 'MailSender',
    queue: 'mail',
    concurrency: CONCURRENCY,
    handlers: [handle(sendMailJob, app.sendMail())],
  });
}
