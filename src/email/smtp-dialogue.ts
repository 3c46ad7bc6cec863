import type { NodemailerError } from 'nodemailer';
import type { SmtpFailure, SmtpReply } from './mail-outcome.ts';

/** What one message's dialogue showed beyond nodemailer's own result. */
export interface SmtpDialogue {
  /** To be given to the transport, with `transactionLog: true`. */
  readonly logger: Record<'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal', LogMethod>;
  contentBegun(): boolean;
}

type LogMethod = (entry: { tnx?: string }, text?: string) => void;

/**
 * Listens to nodemailer's protocol log. Its errors look the same whether the connection was lost before or after the
 * content was sent (`ETIMEDOUT` or `ECONNECTION`, command `CONN`); only the lines of the dialogue tell.
 */
export function openDialogue(): SmtpDialogue {
  let begun = false;
  return {
    logger: {
      trace: ignore,
      debug: (entry, text) => {
        if (entry.tnx === 'server' && text?.startsWith('354')) begun = true;
      },
      // Written once the closing dot is on its way. Some servers invite the content with another code than 354.
      info: (entry) => {
        if (entry.tnx === 'message') begun = true;
      },
      warn: ignore,
      error: ignore,
      fatal: ignore,
    },
    contentBegun: () => begun,
  };
}

function ignore(): void {}

/** nodemailer's error, without the parts that may hold addresses. */
export function failureOf(error: NodemailerError, contentBegun: boolean): SmtpFailure {
  return {
    contentBegun,
    reply: error.responseCode ? replyOf(error.responseCode, error.response ?? '') : null,
    command: error.command ?? 'CONN',
    errorCode: error.code ?? 'EUNKNOWN',
    detail: error.timeoutType ?? error.originalCode ?? null,
  };
}

function replyOf(code: number, response: string): SmtpReply {
  return { code, enhanced: /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1] ?? null };
}
