/**
 * A real SMTP server that delivers into memory, and a web page to read what came: the post office of the demo.
 * It listens on the loopback interface alone, and sends nothing on.
 */
import { createServer, type Server as WebServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { answerMailboxRequest } from './mailbox-pages.ts';

export interface MailboxOptions {
  /** A free port if absent. */
  smtpPort?: number;
  /** A free port if absent. */
  httpPort?: number;
}

/** One delivery, as it was taken over. */
export interface Delivery {
  /** 1 for the first one. */
  number: number;
  /** With its angle brackets; empty if there was none. */
  messageId: string;
  /** Of the envelope. */
  to: readonly string[];
  receivedAt: Date;
}

export interface DeliveredMail extends Delivery {
  from: string;
  subject: string;
  text: string;
  html: string;
}

export interface Mailbox {
  smtpUrl: string;
  webUrl: string;
  /** The newest ones, oldest first: at most as many as are kept (1 000). */
  messages(newestMax?: number): Promise<DeliveredMail[]>;
  message(number: number): Promise<DeliveredMail | null>;
  /** Everything that was accepted since the start, kept or not. A mail to several recipients is one delivery. */
  deliveredCount(): number;
  /** How often this Message-ID was accepted. */
  deliveredCountOf(messageId: string): number;
  /** Deliveries beyond the first one of their Message-ID. */
  duplicates(): number;
  /** Called after each acceptance, before the sender is told. Returns what ends it. */
  onDelivered(listener: (delivery: Delivery) => void): () => void;
  /** Run twice: the same promise. */
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const KEPT_MAX = 1_000;
const KEPT_BYTES_MAX = 64 * 1024 * 1024;
const MAIL_BYTES_MAX = 10 * 1024 * 1024;
/** Each Message-ID is remembered for the count; beyond this the mailbox is full (452). */
const DELIVERIES_MAX = 1_000_000;

export async function openMailbox(options: MailboxOptions = {}): Promise<Mailbox> {
  const store = openStore();
  const smtp = new SMTPServer({
    banner: 'Billonce demo mailbox',
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    size: MAIL_BYTES_MAX,
    closeTimeout: 1_000,
    onData(stream, session, answer) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => {
        if (!stream.sizeExceeded) chunks.push(chunk);
      });
      stream.on('error', answer);
      stream.on('end', () => {
        if (stream.sizeExceeded) return answer(refusal(552, 'the mail is too large'));
        if (store.deliveredCount() >= DELIVERIES_MAX) return answer(refusal(452, 'the mailbox is full'));
        const { number } = store.add(Buffer.concat(chunks), session);
        answer(null, `delivered as number ${number}`);
      });
    },
  });
  smtp.on('error', () => {}); // of one connection: its client hears of it
  const smtpPort = await listening(smtp.server, () => smtp.listen(options.smtpPort ?? 0, HOST));

  const web = createServer((request, response) => void answerMailboxRequest(mailbox, request, response));
  const httpPort = await listening(web, () => web.listen(options.httpPort ?? 0, HOST)).catch(
    async (error) => {
      await closeSmtp(smtp);
      throw error;
    },
  );

  let closing: Promise<void> | null = null;
  const closeAll = async () => {
    await Promise.all([closeSmtp(smtp), closeWeb(web)]);
  };
  const mailbox: Mailbox = {
    ...store,
    smtpUrl: `smtp://${HOST}:${smtpPort}`,
    webUrl: `http://${HOST}:${httpPort}/`,
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
  return mailbox;
}

interface StoredMail extends Delivery {
  source: Buffer;
}

function openStore() {
  const kept: StoredMail[] = [];
  const countById = new Map<string, number>();
  const listeners = new Set<(delivery: Delivery) => void>();
  let keptBytes = 0;
  let delivered = 0;
  let again = 0;

  return {
    add(source: Buffer, session: SMTPServerSession): Delivery {
      delivered += 1;
      const mail: StoredMail = {
        number: delivered,
        messageId: messageIdOf(source),
        to: session.envelope.rcptTo.map((recipient) => recipient.address),
        receivedAt: new Date(),
        source,
      };
      if (mail.messageId !== '') {
        const count = (countById.get(mail.messageId) ?? 0) + 1;
        countById.set(mail.messageId, count);
        if (count > 1) again += 1;
      }
      kept.push(mail);
      keptBytes += source.length;
      while (kept.length > KEPT_MAX || keptBytes > KEPT_BYTES_MAX)
        keptBytes -= kept.shift()?.source.length ?? 0;
      for (const listener of listeners) listener(mail);
      return mail;
    },
    messages: (newestMax = KEPT_MAX) => Promise.all(kept.slice(-newestMax).map(read)),
    async message(number: number) {
      const found = kept.find((mail) => mail.number === number);
      return found ? read(found) : null;
    },
    deliveredCount: () => delivered,
    deliveredCountOf: (messageId: string) => countById.get(messageId) ?? 0,
    duplicates: () => again,
    onDelivered(listener: (delivery: Delivery) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Looked up in the headers alone: taking a mail apart costs more than taking it over, so that waits for a reader. */
function messageIdOf(source: Buffer): string {
  const end = source.indexOf('\r\n\r\n');
  const headers = source.toString('latin1', 0, end < 0 ? source.length : end);
  return /^message-id:\s*(<[^>\r\n]*>)/im.exec(headers)?.[1] ?? '';
}

async function read(mail: StoredMail): Promise<DeliveredMail> {
  const { source, ...delivery } = mail;
  const parsed: ParsedMail = await simpleParser(source, { skipImageLinks: true, skipTextToHtml: true });
  return {
    ...delivery,
    from: parsed.from?.text ?? '',
    subject: parsed.subject ?? '',
    text: parsed.text ?? '',
    html: parsed.html || '',
  };
}

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

/** Resolves to the port. */
function listening(server: Server, listen: () => void): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
    listen();
  });
}

function closeSmtp(smtp: SMTPServer): Promise<void> {
  return new Promise((resolve) => smtp.close(() => resolve()));
}

function closeWeb(web: WebServer): Promise<void> {
  return new Promise((resolve) => {
    web.close(() => resolve());
    web.closeAllConnections();
  });
}
