import { randomFillSync } from 'node:crypto';
import { hostname } from 'node:os';

/**
 * What stands in a lock's key: `<mark><token>:<fence>:<owner>`, where the mark is `!` once somebody waits for the
 * release and `-` before, the token is 160 random bits in hex, the fence is Redis' time in µs, and the owner is
 * for people. The scripts rely on the token's place and length.
 */
interface LockValue {
  token: string;
  fence: number;
  owner: string;
}

const TOKEN_BYTES = 20;
/** Randomness is drawn for many tokens at once: a draw costs more than all else that an acquire does here. */
const DRAW = Buffer.alloc(TOKEN_BYTES * 256);
const VALUE = /^[-!]([0-9a-f]{40}):(\d+):(.*)$/s;
const PROCESS = `${hostname()}:${process.pid}`;

let drawnUpTo = DRAW.length;

/** A new identity for one acquisition; never used again after its release. */
export function newToken(): string {
  if (drawnUpTo === DRAW.length) {
    randomFillSync(DRAW);
    drawnUpTo = 0;
  }
  drawnUpTo += TOKEN_BYTES;
  return DRAW.toString('hex', drawnUpTo - TOKEN_BYTES, drawnUpTo);
}

/** Host, process and, where it is known, the job. */
export function ownerOf(job: string | undefined): string {
  return job === undefined ? PROCESS : `${PROCESS} ${job}`;
}

/** Null where the key was written by something else. */
export function parseLockValue(value: string): LockValue | null {
  const [, token, fence, owner] = VALUE.exec(value) ?? [];
  if (token === undefined || fence === undefined || owner === undefined) return null;
  return { token, fence: Number(fence), owner };
}
