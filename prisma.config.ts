import { existsSync } from 'node:fs';
import { defineConfig } from 'prisma/config';

// For whoever uses Prisma's own command line (`npx prisma migrate deploy`, `npx prisma studio`): same schema, same
// history, same database as `npm run db:migrate`. Prisma 7 does not read `.env` by itself.
if (process.env.NODE_ENV !== 'production' && existsSync('.env')) process.loadEnvFile('.env');

const url = process.env.DATABASE_DIRECT_URL || process.env.DATABASE_URL;

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  // `generate` and `validate` need no database.
  ...(url ? { datasource: { url } } : {}),
});
