/** `npm run db:migrate`: brings the database up to this build. Run twice, or from two processes at once: the same. */
import { loadEnvFile, readMigrationUrl } from './config.ts';
import { describeDatabase } from './postgres/describe-database.ts';
import { migrateDatabase } from './postgres/migrate.ts';
import { exitWith } from './process.ts';

const say = (line: string) => void process.stdout.write(`${line}\n`);

try {
  loadEnvFile();
  const databaseUrl = readMigrationUrl(process.env);
  const { applied } = await migrateDatabase({ databaseUrl, log: say });
  if (applied.length === 0) say(`${describeDatabase(databaseUrl)} is up to date`);
} catch (error) {
  exitWith(error);
}
