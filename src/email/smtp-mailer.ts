import {
  createTransport,
  type NodemailerError,
  type SMTPSentMessageInfo,
  type SMTPTransportOptions,
} from 'nodemailer';
import { BillingError } from '../errors.ts';
import type { Mailer, MailMessage, MailOutcome } from '../operations/ports.ts';
import { envelopeOf, type MailEnvelope } from './mail-envelope.ts';
import { outcomeOfFailure, reasonOf } from './mail-outcome.ts';
import { oneLine } from './plain-text.ts';
import { startDeadline } from './send-deadline.ts';
import { failureOf, openDialogue } from './smtp-dialogue.ts';
import { parseSmtpUrl } from './smtp-url.ts';

export interface SmtpMailerOptions {
  /** `smtp://user:password@host:port?requireTLS=true`; see `parseSmtpUrl`. */
  smtpUrl: string;
  /** How this host introduces itself to the server; its own name unless given. */
  ehloName?: string;
  timeouts?: Partial<SmtpTimeouts>;
}

export interface SmtpTimeouts {
  dnsMs: number;
  /** From the look-up of the name to the end of the TLS handshake. */
  connectMs: number;
  greetingMs: number;
  /** Silence in the dialogue. Servers scan a message before they take it: too short, and delivered mail is uncertain. */
  silenceMs: number;
  /** The whole hand-over, whatever trickles in. An e-mail that has been under way for longer has lost its sender. */
  totalMs: number;
}

export const SMTP_TIMEOUTS: SmtpTimeouts = {
  dnsMs: 5_000,
  connectMs: 15_000,
  greetingMs: 10_000,
  silenceMs: 60_000,
  totalMs: 120_000,
};

/**
 * Hands receipts to an SMTP server. One connection per message, so that what was seen on it belongs to that message.
 *
 * `send` never throws; run twice, it sends twice, and the fixed Message-ID lets the readers' servers tell. `close`
 * lets the messages under way end (`totalMs` at most) and refuses new ones as not sent.
 *
 * @throws BillingError `configuration` if the URL cannot be read
 */
export function openSmtpMailer(options: SmtpMailerOptions): Mailer & { close(): Promise<void> } {
  const server = parseSmtpUrl(options.smtpUrl);
  const timeouts = { ...SMTP_TIMEOUTS, ...options.timeouts };
  const transportOptions: SMTPTransportOptions = {
    ...server,
    ...(options.ehloName ? { name: options.ehloName } : {}),
    dnsTimeout: timeouts.dnsMs,
    connectionTimeout: timeouts.connectMs,
    greetingTimeout: timeouts.greetingMs,
    socketTimeout: timeouts.silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  const underWay = new Set<Promise<MailOutcome>>();
  let closed = false;

  return { send, ping, close };

  async function send(message: MailMessage, { signal }: { signal?: AbortSignal } = {}): Promise<MailOutcome> {
    if (closed) return { kind: 'not_sent', reason: 'the mailer is closed' };
    const envelope = envelopeOf(message);
    if ('fault' in envelope) return { kind: 'rejected', reason: envelope.fault };
    const handOver = handOverTo(transportOptions, message, envelope, timeouts.totalMs, signal);
    underWay.add(handOver);
    try {
      return await handOver;
    } finally {
      underWay.delete(handOver);
    }
  }

  async function ping(): Promise<void> {
    try {
      // Somebody waits for the answer, and no content is being scanned.
      await createTransport({ ...transportOptions, socketTimeout: timeouts.connectMs }).verify();
    } catch (error) {
      const reason = reasonOf(failureOf(error as NodemailerError, false));
      throw new BillingError(
        'unavailable',
        `no mail can be handed over at ${server.host}:${server.port}: ${reason}`,
      );
    }
  }

  async function close(): Promise<void> {
    closed = true;
    await Promise.all(underWay);
  }
}

async function handOverTo(
  transportOptions: SMTPTransportOptions,
  message: MailMessage,
  envelope: Exclude<MailEnvelope, { fault: string }>,
  limitMs: number,
  signal: AbortSignal | undefined,
): Promise<MailOutcome> {
  const dialogue = openDialogue();
  using deadline = startDeadline(limitMs, signal, () => !dialogue.contentBegun());
  try {
    // `debug` would log the same lines, and copy the content besides.
    const transport = createTransport({ ...transportOptions, logger: dialogue.logger, transactionLog: true });
    return outcomeOfSuccess(await transport.sendMail(mailOptions(message, envelope, deadline.signal)));
  } catch (error) {
    const failure = failureOf(error as NodemailerError, dialogue.contentBegun());
    return outcomeOfFailure(deadline.expired() ? { ...failure, errorCode: 'EDEADLINE' } : failure);
  }
}

function mailOptions(message: MailMessage, envelope: { from: string; to: string[] }, signal: AbortSignal) {
  return {
    messageId: message.messageId,
    // Objects are taken as they are; strings would be parsed as lists of addresses.
    from: { name: oneLine(message.fromName, NAME_LENGTH_MAX), address: envelope.from },
    to: envelope.to.map((address) => ({ name: '', address })),
    subject: oneLine(message.subject, SUBJECT_LENGTH_MAX),
    text: message.text,
    html: message.html,
    // Keeps "out of office" replies away (RFC 3834; the second is Microsoft's).
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'OOF, AutoReply' },
    signal,
  };
}

const NAME_LENGTH_MAX = 100;
const SUBJECT_LENGTH_MAX = 200;

/** One accepted recipient is enough: to send again would reach that one twice. */
function outcomeOfSuccess(info: SMTPSentMessageInfo): MailOutcome {
  const reply = oneLine(info.response, REPLY_LENGTH_MAX).replace(/\S*@\S*/g, '(address)');
  const refused = info.rejected.length;
  if (refused === 0) return { kind: 'sent', reply };
  return {
    kind: 'sent',
    reply: `${reply} (${refused} of ${refused + info.accepted.length} recipients refused)`,
  };
}

const REPLY_LENGTH_MAX = 200;
