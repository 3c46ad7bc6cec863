/** `npm run demo`: the real API, workers and gateway process on real services, and a report of what they did. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openSandboxGateway } from '../gateways/sandbox.ts';
import { openPrisma } from '../postgres/prisma.ts';
import { EXIT, exitWith } from '../process.ts';
import { submitDrafts } from './api-client.ts';
import { type DemoDraft, demoDrafts } from './demo-drafts.ts';
import { describeReport } from './describe-report.ts';
import { isSettled, observeProgress, readBooks } from './observe.ts';
import { type DemoOptions, parseDemoOptions } from './options.ts';
import { openProgressView } from './progress-bars.ts';
import { type DemoReport, demoReport } from './report.ts';
import { openStack, type Stack } from './stack.ts';

const OBSERVE_EVERY_MS = 250;

const options = parseDemoOptions(process.argv.slice(2));
const say = (line: string) => void process.stderr.write(`${line}\n`);
const interrupted = new AbortController();
process.on('SIGINT', () => interrupted.abort(new Error('interrupted')));
process.on('SIGTERM', () => interrupted.abort(new Error('interrupted')));

try {
  process.exitCode = await demo(options, interrupted.signal);
} catch (error) {
  if (!interrupted.signal.aborted) exitWith(error);
  say('Interrupted: everything that was started has been ended.');
  process.exit(EXIT.forced);
}

async function demo(options: DemoOptions, signal: AbortSignal): Promise<number> {
  const drafts = await demoDrafts(options);
  const stack = await openStack({ workers: options.workers, announce: say, signal });
  try {
    const report = await run(stack, drafts, options, signal);
    if (options.json) process.stdout.write(`${JSON.stringify(report)}\n`);
    else say(describeReport(report));
    if (options.stay) await stay(stack, signal);
    else if (!options.json)
      say('\nTo look around in the API, the board and the mailbox: npm run demo -- --stay');
    return report.problems.length === 0 ? EXIT.done : EXIT.problems;
  } finally {
    await stack.close();
  }
}

async function run(
  stack: Stack,
  drafts: DemoDraft[],
  options: DemoOptions,
  signal: AbortSignal,
): Promise<DemoReport> {
  const prisma = openPrisma({
    databaseUrl: stack.services.postgres.url,
    poolMax: 6,
    applicationName: 'billonce-demo',
  });
  const gateway = openSandboxGateway({ baseUrl: stack.sandboxUrl });
  let lockBusy = 0;
  stack.onWorkerLog((line) => {
    if (line.includes('"outcome":"lock-busy"')) lockBusy += 1;
  });
  try {
    sayWhatHappens(drafts.length, stack, options);
    const problems: string[] = [];
    const startedMs = performance.now();
    const submitting = submitDrafts(stack.apiUrl, stack.apiKey, drafts);
    const settled = await watch(drafts.length, startedMs + options.timeoutMs, submitting, signal);
    const wallMs = performance.now() - startedMs;
    const refusals = await submitting;
    problems.push(...refusals.map(({ externalId, reason }) => `${externalId} was refused: ${reason}`));
    if (!settled) problems.push(`not everything had settled within ${options.timeoutMs / 1_000} s`);
    problems.push(...stack.ended().map((name) => `the process ${name} ended by itself`));
    return demoReport({
      invoices: drafts.length,
      books: await readBooks(prisma, gateway),
      delivered: stack.mailbox.deliveredCount(),
      duplicateDeliveries: stack.mailbox.duplicates(),
      lockBusy,
      wallMs,
      problems,
    });
  } finally {
    await Promise.all([prisma.$disconnect(), gateway.close()]);
  }

  async function watch(
    expected: number,
    deadlineMs: number,
    submitting: Promise<unknown[]>,
    signal: AbortSignal,
  ) {
    const view = openProgressView(expected, process.stderr);
    let refused = 0;
    void submitting.then(
      (refusals) => {
        refused = refusals.length;
      },
      () => undefined, // it is awaited, and thrown, by the caller
    );
    try {
      for (;;) {
        const progress = await observeProgress(prisma);
        view.show(progress);
        if (isSettled(progress, expected - refused)) return true;
        if (performance.now() > deadlineMs || stack.ended().length > 0) return false;
        await sleep(OBSERVE_EVERY_MS, undefined, { signal });
      }
    } finally {
      view.end();
    }
  }
}

function sayWhatHappens(invoices: number, stack: Stack, options: DemoOptions): void {
  const methods = options.faults
    ? `a faulty one by seed ${options.seed}`
    : 'pm_ok, the sandbox’s card that works';
  say(`Customers without a payment method get ${methods}.`);
  say(
    `Billing ${invoices} invoices through ${stack.apiUrl} with ${options.workers} worker${options.workers > 1 ? 's' : ''}:`,
  );
}

async function stay(stack: Stack, signal: AbortSignal): Promise<void> {
  const lines = [
    '',
    'Everything keeps running until Ctrl-C. Have a look:',
    `  API      ${stack.apiUrl}/docs   (Authorize with ${stack.apiKey})`,
    `  Board    ${stack.apiUrl}/admin/queues   (log in as ${stack.board.user} with ${stack.board.password})`,
    `  Mailbox  ${stack.mailbox.webUrl}`,
    `  Gateway  ${stack.sandboxUrl}/v1/captures`,
  ];
  say(lines.join('\n'));
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
