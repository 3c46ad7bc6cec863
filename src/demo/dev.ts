/** `npm run dev`: everything on embedded services, data kept in `.data/`, processes restarted on a change. */
import { type ChildProcess, spawn } from 'node:child_process';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { exitWith } from '../process.ts';
import { openStack, type Stack } from './stack.ts';

const SETTLE_MS = 300;
const DATA_FOLDER = '.data';
const API_PORT = 3000;
const say = (line: string) => void process.stderr.write(`${line}\n`);

let stack = null as Stack | null;
let stopping = false;
process.on('SIGINT', () => void stop());
process.on('SIGTERM', () => void stop());

try {
  await restart();
  for (const folder of ['src', 'workers', 'prisma']) watchFolder(folder);
} catch (error) {
  await stack?.close();
  exitWith(error);
}

function watchFolder(folder: string): void {
  let timer: NodeJS.Timeout | undefined;
  watch(folder, { recursive: true }, (_event, file) => {
    if (stopping || !file || file.includes('generated')) return;
    clearTimeout(timer);
    timer = setTimeout(() => void rebuild(join(folder, file)), SETTLE_MS);
  });
}

let queue = Promise.resolve();
/** One after the other; what does not compile leaves the running processes alone. */
function rebuild(changed: string): Promise<void> {
  queue = queue.then(async () => {
    say(`\n${changed} changed: building`);
    if ((await build()) !== 0)
      return say('It does not compile; the processes before the change keep running.');
    await restart();
  });
  return queue.catch((error: unknown) => say(error instanceof Error ? error.message : String(error)));
}

function build(): Promise<number | null> {
  const child: ChildProcess = spawn('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  return new Promise((resolve) => child.once('exit', resolve));
}

async function restart(): Promise<void> {
  await stack?.close();
  stack = await openStack({ workers: 1, announce: say, dataDir: DATA_FOLDER, apiPort: API_PORT });
  say(
    [
      '',
      `  API      ${stack.apiUrl}/docs   (key ${stack.apiKey})`,
      `  Board    ${stack.apiUrl}/admin/queues   (${stack.board.user} / ${stack.board.password})`,
      `  Mailbox  ${stack.mailbox.webUrl}`,
      `  Data is kept in ${DATA_FOLDER}/. Ctrl-C ends everything.`,
    ].join('\n'),
  );
}

async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  await stack?.close();
  process.exit(0);
}
