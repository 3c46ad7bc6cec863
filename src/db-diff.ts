/** `npm run db:diff -- NAME`: writes the migration that takes the history to prisma/schema.prisma. */
import { loadEnvFile, readMigrationUrl } from './config.ts';
import { BillingError } from './errors.ts';
import { writeMigration } from './postgres/schema-diff.ts';
import { exitWith } from './process.ts';

try {
  loadEnvFile();
  const [name] = process.argv.slice(2);
  if (!name) throw new BillingError('invalid', 'Name the migration: npm run db:diff -- add_refunds');
  const file = await writeMigration({ databaseUrl: readMigrationUrl(process.env), name });
  process.stdout.write(`${file ?? 'no difference'}\n`);
} catch (error) {
  exitWith(error);
}
