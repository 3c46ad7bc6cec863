/** Opens Postgres and Redis once for the whole run, and prepares the database that each test file copies. */
import type { TestProject } from 'vitest/node';
import { openServices } from '../../src/demo/services/open-services.ts';
import { migrateDatabase } from '../../src/postgres/migrate.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    services: {
      /** The run's own database; others are made beside it. */
      databaseUrl: string;
      /** Name of a migrated database that nobody is connected to. */
      template: string;
      redisUrl: string;
      redisPrefix: string;
    };
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const services = await openServices({
    durable: false,
    announce: (line) => process.stderr.write(`${line}\n`),
  });
  try {
    const template = await services.postgres.freshDatabase();
    await migrateDatabase({ databaseUrl: template.url });
    project.provide('services', {
      databaseUrl: services.postgres.url,
      template: template.name,
      redisUrl: services.redis.url,
      redisPrefix: services.redis.prefix,
    });
  } catch (error) {
    await services.close();
    throw error;
  }
  return () => services.close();
}
