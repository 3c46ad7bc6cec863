import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { EXIT } from '../process.ts';

export interface DemoOptions {
  invoices: number;
  workers: number;
  input: string | null;
  faults: boolean;
  seed: number;
  timeoutMs: number;
  json: boolean;
  stay: boolean;
}

/** Ends the process with exit code 2 and a sentence if the words are off. */
export function parseDemoOptions(argv: readonly string[]): DemoOptions {
  const command = new Command('demo')
    .description('Runs the real application on services of its own and reports what happened.')
    .option('--invoices <n>', 'how many invoices to invent', wholeNumber(1, 100_000), 200)
    .option('--workers <n>', 'how many worker processes', wholeNumber(1, 16), 1)
    .option('--input <file>', 'bill the drafts of this file (JSON Lines) instead')
    .option('--faults', 'deal out faulty payment methods, by the seed', false)
    .option('--seed <n>', 'makes the invoices and the faults repeatable', wholeNumber(0, 2 ** 32 - 1), 1)
    .option('--timeout <s>', 'give up after so many seconds', wholeNumber(1, 86_400), 120)
    .option('--json', 'print the report as one JSON object and nothing else', false)
    .option('--stay', 'keep everything running afterwards, until Ctrl-C', false)
    .addHelpText(
      'after',
      '\nExamples:\n  npm run demo\n  npm run demo -- --invoices 1000 --workers 2 --faults --seed 7',
    )
    .exitOverride();
  try {
    const options = command.parse([...argv], { from: 'user' }).opts();
    return { ...options, input: options.input ?? null, timeoutMs: options.timeout * 1_000 } as DemoOptions;
  } catch (error) {
    if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? EXIT.done : EXIT.usage);
    throw error;
  }
}

function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}
