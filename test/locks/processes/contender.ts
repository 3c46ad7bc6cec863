/**
 * Runs sections under a few keys, one after the other in two lanes. A file per key, created exclusively at the
 * start of a section and deleted at its end, is the witness that Redis has no part in. Prints one JSON object.
 * Arguments: URL, folder, number of sections, keys.
 */
import { closeSync, openSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { Held } from '../../../src/locks/held.ts';
import { openRedisLockConnection } from '../../../src/locks/redis-lock-connection.ts';
import { RedisMutex } from '../../../src/locks/redis-mutex.ts';

const LANES = 2;
const [url = '', folder = '', sections = '', ...keys] = process.argv.slice(2);

const logger = { debug() {}, warn() {} };
const connection = await openRedisLockConnection({ url, logger, commandTimeoutMs: 5_000 });
let left = Number(sections);
let done = 0;
let overlaps = 0;
let staleFences = 0;

await Promise.all(Array.from({ length: LANES }, runLane));
await connection.close();
process.stdout.write(JSON.stringify({ done, overlaps, staleFences }));

async function runLane(): Promise<void> {
  while (left > 0) {
    left -= 1;
    const key = keys[Math.floor(Math.random() * keys.length)] ?? '';
    await new RedisMutex({ redis: connection.redis, key, logger }).synchronize((held) => section(key, held));
    done += 1;
  }
}

async function section(key: string, { fence }: Held): Promise<void> {
  const witness = join(folder, `${encodeURIComponent(key)}.inside`);
  const last = join(folder, `${encodeURIComponent(key)}.fence`);
  try {
    closeSync(openSync(witness, 'wx'));
  } catch {
    overlaps += 1;
    return;
  }
  if (fence <= lastFence(last)) staleFences += 1;
  writeFileSync(last, String(fence));
  await turn();
  unlinkSync(witness);
}

function lastFence(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8'));
  } catch {
    return 0;
  }
}
