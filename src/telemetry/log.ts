import { type DestinationStream, type Logger, pino } from 'pino';

/** Paths that hold secrets or personal data wherever an object with them is logged. */
const REDACTED = [
  'password',
  'secret',
  'authorization',
  'cookie',
  'email',
  'emails',
  'recipients',
  'address',
  'databaseUrl',
  'redisUrl',
  'smtpUrl',
].flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/**
 * One JSON object a line. Errors are reduced to name, code, message and stack; a cause's own text is left out,
 * since drivers put statements' values and addresses into theirs.
 */
export function openLog(options: { level: string; name: string }, destination?: DestinationStream): Logger {
  return pino(
    {
      name: options.name,
      level: options.level,
      redact: { paths: REDACTED, censor: '[redacted]' },
      serializers: { err: describeError },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination ?? pino.destination({ fd: 1, sync: false }),
  );
}

function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: 'something that is no error was thrown' };
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return { name: error.name, ...code, message: error.message, stack: error.stack };
}
