/**
 * What the end of an SMTP dialogue means for the message. The question behind each line: may it have been accepted,
 * and would sending it again help? Reasons name codes, never the server's words: those like to quote the address.
 */
import type { MailOutcome } from '../operations/ports.ts';

/** How a dialogue ended that was not answered with a success. */
export interface SmtpFailure {
  /** The server asked for the content (354), or all of it was written: it may have taken the message. */
  contentBegun: boolean;
  /** The reply that ended the dialogue; null where none came. */
  reply: SmtpReply | null;
  /** What was answered or under way, in nodemailer's words: `CONN`, `EHLO`, `AUTH PLAIN`, `RCPT TO`, `DATA`, … */
  command: string;
  /** nodemailer's code: `ESOCKET`, `ETIMEDOUT`, `EAUTH`, … */
  errorCode: string;
  /** The system's or the timer's own word: `ECONNREFUSED`, `GREETING_TIMEOUT`, … */
  detail: string | null;
}

export interface SmtpReply {
  /** Three digits (RFC 5321, 4.2). */
  code: number;
  /** Such as `5.1.1` (RFC 3463), where the server gave one. */
  enhanced: string | null;
}

export function outcomeOfFailure(failure: SmtpFailure): MailOutcome {
  const { reply } = failure;
  if (reply && reply.code >= 400) return outcomeOfRefusal(failure, reply);

  // The server had the message, or most of it, and never said what it did with it.
  if (failure.contentBegun)
    return { kind: 'uncertain', reason: `no reply to the message: ${reasonOf(failure)}` };

  // The message itself cannot be put into SMTP; it would be the same next time.
  if (failure.errorCode === 'EENVELOPE' || failure.errorCode === 'EMESSAGE') {
    return { kind: 'rejected', reason: reasonOf(failure) };
  }

  // Refused, timed out, closed, TLS failed, aborted: nobody has seen the content.
  return { kind: 'not_sent', reason: reasonOf(failure) };
}

/** A reply decides, whether it came before or after the content. */
function outcomeOfRefusal(failure: SmtpFailure, reply: SmtpReply): MailOutcome {
  const reason = reasonOf(failure);

  // A log-in or TLS that is missing or wrong: ours to mend, and no fault of the message.
  if (failure.errorCode === 'EAUTH' || ASKS_FOR_LOGIN.has(reply.code)) return { kind: 'not_sent', reason };

  // "Bad sequence of commands" is about the session; a new one may go better.
  if (reply.code === 503) return { kind: 'not_sent', reason };

  // Transient by definition; the server keeps nothing.
  if (reply.code < 500) return { kind: 'not_sent', reason };

  // Permanent, for the sender, for every recipient or for the content.
  if (failure.contentBegun || ABOUT_THE_MESSAGE.has(failure.command)) return { kind: 'rejected', reason };

  // Permanent, but for this client or connection (greeting, EHLO, STARTTLS): the message was never shown.
  return { kind: 'not_sent', reason };
}

const ASKS_FOR_LOGIN = new Set([530, 534, 535, 538]);
const ABOUT_THE_MESSAGE = new Set(['MAIL FROM', 'RCPT TO', 'DATA']);

/** One clause for a person, without addresses, credentials and the server's own words. */
export function reasonOf({ reply, command, errorCode, detail }: SmtpFailure): string {
  if (reply) {
    const codes = reply.enhanced ? `${reply.code} ${reply.enhanced}` : `${reply.code}`;
    if (errorCode === 'EAUTH') return `the mail server refused the log-in (${codes})`;
    if (ASKS_FOR_LOGIN.has(reply.code)) return `the mail server asks for a log-in or for TLS (${codes})`;
    return `the mail server answered ${codes} to ${STEPS[command] ?? command}`;
  }
  const what = REASONS[errorCode] ?? 'the hand-over failed';
  return detail ? `${what} (${detail})` : what;
}

const STEPS: Record<string, string> = {
  CONN: 'the connection',
  'MAIL FROM': 'the sender',
  'RCPT TO': 'the recipients',
  DATA: 'the message',
};

const REASONS: Record<string, string> = {
  EDNS: 'the name of the mail server cannot be resolved',
  ESOCKET: 'the mail server cannot be reached',
  ECONNECTION: 'the mail server closed the connection',
  ETIMEDOUT: 'the mail server did not answer in time',
  ETLS: 'TLS could not be set up with the mail server',
  EPROTOCOL: 'the mail server does not speak SMTP',
  EAUTH: 'no log-in that the mail server takes could be tried',
  EENVELOPE: 'the message has no valid sender or recipients',
  EMESSAGE: 'the message is larger than the mail server takes',
  EABORT: 'the hand-over was aborted',
  EDEADLINE: 'the hand-over took too long',
};
