/** Postgres and Redis for a test file: a world of its own on the servers that the run shares. */
import { afterAll, inject } from 'vitest';
import { createFreshDatabase } from '../../src/demo/services/databases.ts';
import { freshPrefixBeside } from '../../src/demo/services/redis-client.ts';
import type { FreshDatabase } from '../../src/demo/services/services.ts';

const made: FreshDatabase[] = [];

// Registered before any hook of the file itself, and so run after them all.
afterAll(async () => {
  for (const database of made) await database.drop();
});

/** The URL of a new database with all migrations applied (`empty`: with none). Dropped after the file. */
export async function freshDatabase({ empty = false }: { empty?: boolean } = {}): Promise<string> {
  const { databaseUrl, template } = inject('services');
  const database = await createFreshDatabase(databaseUrl, empty ? undefined : template);
  made.push(database);
  return database.url;
}

export function redisUrl(): string {
  return inject('services').redisUrl;
}

/** With a hash tag, never given twice: tests that share the server do not meet. */
export function freshPrefix(): string {
  return freshPrefixBeside(inject('services').redisPrefix);
}
