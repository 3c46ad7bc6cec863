/** The operator's command line, `npm run billing -- COMMAND`: it dispatches, and each command is a file of its own. */
import { Command, CommanderError } from 'commander';
import { type App, hashPassword, openApp } from './app.ts';
import { runFinalize } from './cli/finalize.ts';
import { runHashPassword } from './cli/hash-password.ts';
import { runImport } from './cli/import.ts';
import { processTerminal as terminal } from './cli/terminal.ts';
import { type ConfigPart, loadEnvFile, readConfig } from './config.ts';
import { EXIT, exitWith } from './process.ts';

const program = new Command('billing')
  .description('Imports, finalizes and looks after invoices.')
  .exitOverride()
  .showHelpAfterError('(run "npm run billing -- --help" for the commands)');

program
  .command('import')
  .description(
    'takes drafts in, one JSON object a line; good lines go in, bad ones are refused with every fault',
  )
  .argument('<file>', 'a file of JSON Lines')
  .option('--json', 'one JSON object on standard output', false)
  .addHelpText('after', '\nExample:\n  npm run billing -- import drafts.jsonl')
  .action((file: string, options: { json: boolean }) =>
    withApp(['database'], (app) => runImport(file, options, { createDraft: app.createDraft(), terminal })),
  );

program
  .command('finalize')
  .description('asks for the finalization of invoices; a worker numbers, charges and receipts them')
  .argument('<id...>', 'invoice ids, or ext:<external id>')
  .option('--json', 'one JSON object on standard output', false)
  .addHelpText('after', '\nExample:\n  npm run billing -- finalize ext:order-1001')
  .action((ids: string[], options: { json: boolean }) =>
    withApp(['database', 'redis'], (app) =>
      runFinalize(ids, options, { requestFinalization: app.requestFinalization(), terminal }),
    ),
  );

program
  .command('hash-password')
  .description('reads a password from standard input and prints its hash for BOARD_PASSWORD_HASH')
  .addHelpText('after', '\nExample:\n  printf %s "$PASSWORD" | npm run --silent billing -- hash-password')
  .action(async () => {
    process.exitCode = await runHashPassword(process.stdin, { hashPassword, terminal });
  });

try {
  loadEnvFile();
  await program.parseAsync();
} catch (error) {
  // Commander has said it already.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? EXIT.done : EXIT.usage);
  exitWith(error);
}

async function withApp(parts: readonly ConfigPart[], run: (app: App) => Promise<number>): Promise<void> {
  const app = openApp(readConfig(process.env, parts), { processName: 'cli' });
  try {
    process.exitCode = await run(app);
  } finally {
    await app.close();
  }
}
