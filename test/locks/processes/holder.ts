/**
 * Locks a key and keeps it, answering over IPC: `look` says what the section knows of its lock, `unlock` what
 * became of it. Arguments: URL, key, lease in ms.
 */
import { LockLostError } from '../../../src/locks/errors.ts';
import { openRedisLockConnection } from '../../../src/locks/redis-lock-connection.ts';
import { RedisMutex } from '../../../src/locks/redis-mutex.ts';

const [url = '', key = '', expireMs = ''] = process.argv.slice(2);

const logger = { debug() {}, warn() {} };
const connection = await openRedisLockConnection({ url, logger });
const mutex = new RedisMutex({ redis: connection.redis, key, expireMs: Number(expireMs), logger });
const held = await mutex.acquire();
held.signal.addEventListener('abort', () => process.send?.({ aborted: true }));

process.on('message', async (message) => {
  if (message === 'look') {
    process.send?.({ look: reasonOfLoss(), aborted: held.signal.aborted, remainingMs: held.remainingMs() });
  } else if (message === 'unlock') {
    process.send?.({ unlock: await mutex.unlock() });
    await connection.close();
    process.disconnect();
  }
});
process.send?.({ held: held.fence });

function reasonOfLoss(): string | null {
  try {
    held.assertHeld();
    return null;
  } catch (error) {
    if (error instanceof LockLostError) return error.reason;
    throw error;
  }
}
