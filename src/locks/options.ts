import { BillingError, type Fault } from '../errors.ts';
import type { LockClient } from './lock-scripts.ts';

/** The part of pino that the locks use. */
export interface LockLogger {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface RedisMutexOptions {
  /** A connection without an offline queue, best one of its own (`openRedisLockConnection`). */
  redis: LockClient;
  key: string;
  /** How long `lock` waits by default; −1 (the default) for ever, 0 not at all. */
  timeoutMs?: number;
  /** The lease: how long the key outlives a dead holder. Default 10 000. */
  expireMs?: number;
  /** How often the lease is renewed; less than half of `expireMs`. Default a third of it. */
  intervalMs?: number;
  /** A section that runs longer is taken for hung, and its lease is not renewed any more. Default 5 min. */
  maxHoldMs?: number;
  /** Who locks, for people: a job's name and id, say. Host and process are added. No names or amounts. */
  owner?: string;
  logger?: LockLogger;
}

export type MutexSettings = Required<Omit<RedisMutexOptions, 'owner'>>;

export const WAIT_FOR_EVER = -1;

const DEFAULT_EXPIRE_MS = 10_000;
const DEFAULT_MAX_HOLD_MS = 5 * 60_000;
/** Below this the margin of the local deadline would eat the lease. */
const EXPIRE_MIN_MS = 10;
/** About 12 days; a timer takes twice that, which leaves room for a sum of two. */
const DURATION_MAX_MS = 2 ** 30 - 1;

const SILENT: LockLogger = { debug() {}, warn() {} };

/**
 * Fills in the defaults.
 * @throws BillingError `invalid` whose faults name every bad option
 */
export function checkMutexOptions(options: RedisMutexOptions): MutexSettings {
  const expireMs = options.expireMs ?? DEFAULT_EXPIRE_MS;
  const settings: MutexSettings = {
    redis: options.redis,
    key: options.key,
    timeoutMs: options.timeoutMs ?? WAIT_FOR_EVER,
    expireMs,
    intervalMs: options.intervalMs ?? Math.floor(expireMs / 3),
    maxHoldMs: options.maxHoldMs ?? DEFAULT_MAX_HOLD_MS,
    logger: options.logger ?? SILENT,
  };
  const expireFault = faultOfDuration('expireMs', expireMs, EXPIRE_MIN_MS);
  // The default interval comes from expireMs, and is not to blame for it.
  const intervalGiven = options.intervalMs !== undefined || expireFault === undefined;
  refuse([
    faultOfClient(settings.redis),
    faultOfKey(settings.key),
    faultOfTimeout(settings.timeoutMs),
    expireFault,
    intervalGiven ? faultOfInterval(settings) : undefined,
    faultOfDuration('maxHoldMs', settings.maxHoldMs, 1),
  ]);
  return settings;
}

/** @throws BillingError `invalid` that names `timeoutMs` */
export function checkTimeout(timeoutMs: number): void {
  refuse([faultOfTimeout(timeoutMs)]);
}

function faultOfClient(redis: LockClient): Fault | undefined {
  if (typeof redis?.defineCommand !== 'function') return faultOf('redis', 'must be an ioredis client');
  const { enableOfflineQueue } = redis.options;
  if (enableOfflineQueue === false) return undefined;
  // A queued acquire would lock, and a queued release would be missed, at some time nobody can foresee.
  return faultOf('redis', 'must be a client with enableOfflineQueue: false');
}

function faultOfKey(key: string): Fault | undefined {
  return typeof key === 'string' && key !== ''
    ? undefined
    : faultOf('key', 'must be a text that is not empty');
}

function faultOfTimeout(timeoutMs: number): Fault | undefined {
  return timeoutMs === WAIT_FOR_EVER ? undefined : faultOfDuration('timeoutMs', timeoutMs, 0);
}

function faultOfDuration(field: string, valueMs: number, minMs: number): Fault | undefined {
  if (Number.isInteger(valueMs) && valueMs >= minMs && valueMs <= DURATION_MAX_MS) return undefined;
  return faultOf(
    field,
    `must be a whole number of milliseconds, from ${minMs} to ${DURATION_MAX_MS}, not ${valueMs}`,
  );
}

function faultOfInterval({ intervalMs, expireMs }: MutexSettings): Fault | undefined {
  const fault = faultOfDuration('intervalMs', intervalMs, 1);
  if (fault !== undefined || intervalMs < expireMs / 2) return fault;
  // One renewal may fail; the next must still come before the lease ends.
  return faultOf('intervalMs', `must be less than half of expireMs (${expireMs}), not ${intervalMs}`);
}

function faultOf(field: string, message: string): Fault {
  return { field, code: 'invalid_option', message: `${field} ${message}` };
}

function refuse(candidates: readonly (Fault | undefined)[]): void {
  const faults = candidates.filter((candidate) => candidate !== undefined);
  if (faults.length === 0) return;
  throw new BillingError('invalid', `Mutex: ${faults.map(({ message }) => message).join('; ')}`, { faults });
}
