import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';

const LIMIT_MS = 30_000;
const POLL_MS = 20;

export interface ProcessResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** `npm run db:migrate` from the sources, as a process of its own. */
export async function runMigrateMain(databaseUrl: string): Promise<ProcessResult> {
  const main = new URL('../../src/db-migrate.ts', import.meta.url).pathname;
  const { DATABASE_DIRECT_URL: _, ...environment } = process.env;
  const child = spawn(process.execPath, ['--import', 'tsx', main], {
    env: { ...environment, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
  });
  const result: ProcessResult = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    result.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    result.stderr += chunk;
  });
  result.code = await new Promise((resolve, reject) => child.on('close', resolve).on('error', reject));
  return result;
}

/** Polls, because no event of Postgres tells of somebody who starts to wait. */
export async function waitUntil(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`still not so after ${LIMIT_MS} ms`);
    await pause(POLL_MS);
  }
}
