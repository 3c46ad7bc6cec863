/** Passwords are kept as `scrypt:N:r:p:salt:hash`, salt and hash in base64. */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { BillingError } from '../../errors.ts';

/** 32 MiB and about a fifth of a second: too slow to guess, quick enough to log in (OWASP's second choice). */
const COST = { N: 32_768, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const HASH_BYTES_MIN = 16;
const MEMORY_MAX_BYTES = 256 * 1024 * 1024;
const PATTERN = /^scrypt:(\d{1,8}):(\d{1,3}):(\d{1,3}):([A-Za-z0-9+/]+={0,2}):([A-Za-z0-9+/]+={0,2})$/;

interface PasswordHash {
  cost: { N: number; r: number; p: number };
  salt: Buffer;
  hash: Buffer;
}

/** A new salt each time: the same password never has the same hash. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, { cost: COST, salt, length: HASH_BYTES });
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64'), hash.toString('base64')].join(':');
}

/** @throws BillingError `configuration` if `stored` is no hash that `hashPassword` could have made */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const { cost, salt, hash } = parseHash(stored);
  return timingSafeEqual(hash, await derive(password, { cost, salt, length: hash.length }));
}

/** @throws BillingError `configuration` */
export function requirePasswordHash(stored: string): void {
  parseHash(stored);
}

function parseHash(stored: string): PasswordHash {
  const [, N = '', r = '', p = '', salt = '', hash = ''] = PATTERN.exec(stored) ?? [];
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const parsed = { cost, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') };
  const isPowerOfTwo = cost.N > 1 && (cost.N & (cost.N - 1)) === 0;
  const affordable = cost.r > 0 && cost.p > 0 && memoryBytes(cost) <= MEMORY_MAX_BYTES && cost.p <= 16;
  if (!isPowerOfTwo || !affordable || parsed.hash.length < HASH_BYTES_MIN) {
    const remedy = 'make one with: npm run billing -- hash-password';
    throw new BillingError('configuration', `BOARD_PASSWORD_HASH is not a password's hash: ${remedy}`);
  }
  return parsed;
}

function derive(
  password: string,
  { cost, salt, length }: { cost: PasswordHash['cost']; salt: Buffer; length: number },
): Promise<Buffer> {
  const options: ScryptOptions = { ...cost, maxmem: 2 * memoryBytes(cost) };
  // The same letters can be typed as different code points, depending on the keyboard.
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, length, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

function memoryBytes({ N, r, p }: PasswordHash['cost']): number {
  return 128 * r * (N + p);
}
