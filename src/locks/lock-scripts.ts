import type { Cluster, Redis } from 'ioredis';
import { parseLockValue } from './lock-value.ts';
import { withTimeLimit } from './time-limit.ts';

export type LockClient = Redis | Cluster;

/** Where releases are announced to whoever waits; the message is the key. Only a hint, see `waiting-line.ts`. */
export const RELEASES_CHANNEL = 'redis-mutex:releases';

interface AcquireRequest {
  token: string;
  expireMs: number;
  owner: string;
  /** The caller will wait if the lock is busy, so its release is worth an announcement. */
  willWait: boolean;
  /** Others wait already, so the release of this acquisition is worth one, too. */
  othersWait: boolean;
}

export type AcquireAnswer =
  | { kind: 'acquired'; fence: number }
  | { kind: 'busy'; remainingMs: number | null; heldBy: string | null };
export type ExtendAnswer = 'extended' | 'expired' | 'stolen';
export type ReleaseAnswer = 'released' | 'expired' | 'stolen';

/** The three things that change a lock, each one atomic command and safe to send twice. */
export interface LockScripts {
  acquire(request: AcquireRequest): Promise<AcquireAnswer>;
  extend(token: string, expireMs: number): Promise<ExtendAnswer>;
  release(token: string): Promise<ReleaseAnswer>;
}

/**
 * The scripts, bound to one key. A client without a command time-out of its own gets one of `replyLimitMs`: an
 * answer that comes after the lease has ended is worth nothing.
 */
export function lockScripts(redis: LockClient, key: string, replyLimitMs: number): LockScripts {
  const client = withCommands(redis);
  const limited = hasCommandTimeout(redis)
    ? <T>(reply: Promise<T>) => reply
    : <T>(reply: Promise<T>) => withTimeLimit(reply, replyLimitMs);
  return {
    async acquire({ token, expireMs, owner, willWait, othersWait }) {
      const mark = othersWait ? '!' : '-';
      const reply = client.redisMutexAcquire(key, token, expireMs, owner, mark, willWait ? 1 : 0);
      return acquireAnswer(await limited(reply));
    },
    async extend(token, expireMs) {
      const reply = Number(await limited(client.redisMutexExtend(key, token, expireMs)));
      return reply === 1 ? 'extended' : reply === 0 ? 'expired' : 'stolen';
    },
    async release(token) {
      const reply = Number(await limited(client.redisMutexRelease(key, token)));
      return reply === 1 ? 'released' : reply === 0 ? 'expired' : 'stolen';
    },
  };
}

/** True where Redis did answer, and refused: sending the same once more is no use. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return false;
  return /^(ERR|WRONGTYPE|NOAUTH|WRONGPASS|NOPERM)\b/.test(error.message);
}

type AcquireReply = number | string | [number | string, string];

interface LockCommands {
  redisMutexAcquire(
    key: string,
    token: string,
    expireMs: number,
    owner: string,
    mark: string,
    willWait: 0 | 1,
  ): Promise<AcquireReply>;
  redisMutexExtend(key: string, token: string, expireMs: number): Promise<number | string>;
  redisMutexRelease(key: string, token: string): Promise<number | string>;
}

const prepared = new WeakSet<LockClient>();

/** `defineCommand` sends EVALSHA and falls back to EVAL, so a SCRIPT FLUSH goes unnoticed. */
function withCommands(redis: LockClient): LockCommands {
  if (!prepared.has(redis)) {
    redis.defineCommand('redisMutexAcquire', { numberOfKeys: 1, lua: ACQUIRE });
    redis.defineCommand('redisMutexExtend', { numberOfKeys: 1, lua: EXTEND });
    redis.defineCommand('redisMutexRelease', { numberOfKeys: 1, lua: RELEASE });
    prepared.add(redis);
  }
  return redis as unknown as LockCommands;
}

function hasCommandTimeout(redis: LockClient): boolean {
  const options = 'redisOptions' in redis.options ? redis.options.redisOptions : redis.options;
  return typeof (options as { commandTimeout?: number } | undefined)?.commandTimeout === 'number';
}

function acquireAnswer(reply: AcquireReply): AcquireAnswer {
  if (!Array.isArray(reply)) return { kind: 'acquired', fence: Number(reply) };
  const remainingMs = Number(reply[0]);
  return {
    kind: 'busy',
    remainingMs: remainingMs < 0 ? null : remainingMs,
    heldBy: parseLockValue(reply[1])?.owner ?? null,
  };
}

/**
 * Own token found: an earlier acquire was executed and its reply lost, so the lease is renewed and the same fence
 * answered. Busy: whoever is going to wait leaves a mark in the holder's value, which costs nothing where nobody
 * waits; only a value of ours is marked.
 */
const ACQUIRE = `
local value = redis.call('GET', KEYS[1])
if not value then
  local now = redis.call('TIME')
  local fence = now[1] .. string.format('%06d', now[2])
  redis.call('SET', KEYS[1], ARGV[4] .. ARGV[1] .. ':' .. fence .. ':' .. ARGV[3], 'PX', ARGV[2])
  return tonumber(fence)
end
if string.sub(value, 2, 41) == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return tonumber(string.match(value, '^.%x+:(%d+):'))
end
if ARGV[5] == '1' and string.find(value, '^%-%x+:%d+:') == 1 then
  redis.pcall('SETRANGE', KEYS[1], 0, '!')
end
return { redis.call('PTTL', KEYS[1]), value }
`;

const EXTEND = `
local value = redis.call('GET', KEYS[1])
if not value then return 0 end
if string.sub(value, 2, 41) ~= ARGV[1] then return -1 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`;

/** A refused PUBLISH (access rules, say) must not make the release fail: the key is gone already. */
const RELEASE = `
local value = redis.call('GET', KEYS[1])
if not value then return 0 end
if string.sub(value, 2, 41) ~= ARGV[1] then return -1 end
redis.call('DEL', KEYS[1])
if string.sub(value, 1, 1) == '!' then redis.pcall('PUBLISH', '${RELEASES_CHANNEL}', KEYS[1]) end
return 1
`;
