/** What every process of ours does the same way: say why it cannot start, stop when told to, answer with a code. */
import { type ErrorCode, isBillingError } from './errors.ts';

export const EXIT = { done: 0, problems: 1, usage: 2, unreachable: 3, forced: 4 } as const;

export interface RunningProcess {
  /** `forced`: work was cut off after the grace period; it is picked up again by whoever runs next. */
  stop(): Promise<'clean' | 'forced'>;
}

/** Starts, then stops on SIGTERM or SIGINT; a second signal ends the process at once. */
export async function runProcess(start: () => Promise<RunningProcess>): Promise<void> {
  const signals = stopOnSignals();
  try {
    signals.started(await start());
  } catch (error) {
    exitWith(error);
  }
}

/** A fault that a person can act on is one sentence; only a fault of ours has a stack trace. */
export function exitWith(error: unknown): never {
  const sentence = isBillingError(error)
    ? error.message
    : error instanceof Error
      ? (error.stack ?? error.message)
      : String(error);
  process.stderr.write(`${sentence}\n`);
  process.exit(exitCodeOf(error));
}

export function exitCodeOf(error: unknown): number {
  const codes: Partial<Record<ErrorCode, number>> = {
    configuration: EXIT.usage,
    invalid: EXIT.usage,
    unavailable: EXIT.unreachable,
  };
  return (isBillingError(error) && codes[error.code]) || EXIT.problems;
}

/** Listens from the beginning: a signal that comes while the process starts must not cut it off in the middle. */
function stopOnSignals(): { started(running: RunningProcess): void } {
  let running: RunningProcess | null = null;
  let stopping = false;
  const stop = async () => {
    // Before it runs, it has taken no work that it could finish.
    if (!running) process.exit(EXIT.done);
    if (stopping) process.exit(EXIT.forced);
    stopping = true;
    try {
      process.exit((await running.stop()) === 'clean' ? EXIT.done : EXIT.forced);
    } catch (error) {
      exitWith(error);
    }
  };
  process.on('SIGTERM', () => void stop());
  process.on('SIGINT', () => void stop());
  return {
    started(started) {
      running = started;
    },
  };
}
