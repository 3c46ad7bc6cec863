import { isIPv6 } from 'node:net';
import { BillingError } from '../errors.ts';

/** Where and how mail is handed over; the names are nodemailer's. */
export interface SmtpServer {
  host: string;
  port: number;
  /** TLS from the first byte on (`smtps:`); otherwise STARTTLS where the server offers it. */
  secure: boolean;
  auth?: { user: string; pass: string };
  requireTLS?: boolean;
  ignoreTLS?: boolean;
  opportunisticTLS?: boolean;
  tls?: { rejectUnauthorized?: boolean; servername?: string };
}

/**
 * Reads `smtp://user:password@host:port?requireTLS=true` or `smtps://…`; user and password are percent-decoded, the
 * port is 587 (smtps: 465) unless given. Our own reading, not nodemailer's: there a query may switch on anything
 * (`?sendmail=true`, `?logger=true`), and `?requireTLS` without a value means no.
 *
 * @throws BillingError `configuration`; the message never repeats the URL, which holds a password
 */
export function parseSmtpUrl(smtpUrl: string): SmtpServer {
  const url = URL.canParse(smtpUrl) ? new URL(smtpUrl) : null;
  if (!url || !/^smtps?:$/.test(url.protocol)) throw misconfigured('must start with smtp:// or smtps://');
  if (!url.hostname) throw misconfigured('names no host');
  const secure = url.protocol === 'smtps:';
  const server: SmtpServer = {
    host: hostOf(url),
    port: url.port ? Number(url.port) : secure ? SMTPS_PORT : SUBMISSION_PORT,
    secure,
  };
  if (url.username) server.auth = { user: decoded(url.username), pass: decoded(url.password) };
  for (const [name, value] of url.searchParams) applyOption(server, name, value);
  return server;
}

const SUBMISSION_PORT = 587;
const SMTPS_PORT = 465;

function hostOf(url: URL): string {
  const bare = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return isIPv6(bare) ? bare : url.hostname;
}

function decoded(credential: string): string {
  try {
    return decodeURIComponent(credential);
  } catch {
    throw misconfigured('has a user or password with a stray %; write it as %25');
  }
}

function applyOption(server: SmtpServer, name: string, value: string): void {
  switch (name) {
    case 'requireTLS':
    case 'ignoreTLS':
    case 'opportunisticTLS':
      server[name] = yesOrNo(name, value);
      return;
    case 'tls.rejectUnauthorized':
      server.tls = { ...server.tls, rejectUnauthorized: yesOrNo(name, value) };
      return;
    case 'tls.servername':
      server.tls = { ...server.tls, servername: value };
      return;
    default:
      throw misconfigured(`has an unknown option; known are ${KNOWN_OPTIONS}`);
  }
}

const KNOWN_OPTIONS = 'requireTLS, ignoreTLS, opportunisticTLS, tls.rejectUnauthorized and tls.servername';

function yesOrNo(name: string, value: string): boolean {
  if (value === 'true' || value === '1') return true;
  if (value === 'false' || value === '0') return false;
  throw misconfigured(`needs ${name}=true or ${name}=false`);
}

function misconfigured(what: string): BillingError {
  return new BillingError('configuration', `the SMTP URL ${what}`);
}
