/**
 * The mailbox as a process of its own: `SMTP_PORT` and `HTTP_PORT` (free ports if absent). Prints one line of
 * JSON, `{ smtpUrl, webUrl }`, when it is ready, and ends on SIGINT and SIGTERM.
 */
import { openMailbox } from './mailbox.ts';

const smtpPort = readPort('SMTP_PORT');
const httpPort = readPort('HTTP_PORT');
const mailbox = await openMailbox({
  ...(smtpPort !== null && { smtpPort }),
  ...(httpPort !== null && { httpPort }),
}).catch((error) => stop(error instanceof Error ? error.message : String(error), 3));
process.stdout.write(`${JSON.stringify({ smtpUrl: mailbox.smtpUrl, webUrl: mailbox.webUrl })}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void mailbox.close().then(() => process.exit(0)));
}

function readPort(name: string): number | null {
  const value = process.env[name];
  if (value === undefined || value === '') return null;
  const port = Number(value);
  if (/^\d+$/.test(value) && port > 0 && port < 65_536) return port;
  return stop(`${name} is "${value}", which is not a port from 1 to 65535`, 2);
}

function stop(message: string, exitCode: number): never {
  process.stderr.write(`The mailbox cannot start: ${message}\n`);
  process.exit(exitCode);
}
