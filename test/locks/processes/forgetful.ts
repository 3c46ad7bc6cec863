/** Locks a key, never unlocks it, and has nothing else to do. Arguments: URL, key. */
import { openRedisLockConnection } from '../../../src/locks/redis-lock-connection.ts';
import { RedisMutex } from '../../../src/locks/redis-mutex.ts';

const [url = '', key = ''] = process.argv.slice(2);

const logger = { debug() {}, warn() {} };
const connection = await openRedisLockConnection({ url, logger });
await new RedisMutex({ redis: connection.redis, key, logger }).lock();
const hung = new RedisMutex({ redis: connection.redis, key: `${key}:hung`, logger });
void hung.synchronize(() => new Promise(() => {}));
await hung.isLocked();
await connection.close();
process.stdout.write('connection closed');
