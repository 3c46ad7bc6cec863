import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface Delivery {
  from: string;
  to: string[];
  mail: ParsedMail;
}

export interface SmtpTestServer extends AsyncDisposable {
  url: string;
  port: number;
  deliveries: Delivery[];
  connectionCount(): number;
  /** Resolves once the server has the whole content of a message. */
  contentReceived: Promise<void>;
}

/** What the server does once it has the whole content: a reply, or silence, or the end of the connection. */
export type AfterContent = 'accept' | 'hang' | 'close' | { code: number; text: string };

/** A real SMTP server on a free port of the loopback interface. */
export async function startSmtpServer(
  options: SMTPServerOptions = {},
  afterContent: AfterContent = 'accept',
): Promise<SmtpTestServer> {
  const deliveries: Delivery[] = [];
  const sockets = new Set<Socket>();
  let connectionCount = 0;
  const { promise: contentReceived, resolve: noteContent } = promiseWithResolvers();
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 10,
    logger: false,
    ...options,
    onData: async (stream, session, done) => {
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk as Buffer);
      const raw = Buffer.concat(chunks);
      noteContent();
      if (afterContent === 'hang') return;
      if (afterContent === 'close') {
        for (const socket of sockets) socket.destroy();
        return;
      }
      if (afterContent !== 'accept') {
        done(Object.assign(new Error(afterContent.text), { responseCode: afterContent.code }));
        return;
      }
      const { mailFrom, rcptTo } = session.envelope;
      deliveries.push({
        from: mailFrom ? mailFrom.address : '',
        to: rcptTo.map((recipient) => recipient.address),
        mail: await simpleParser(raw),
      });
      done(null, '2.0.0 queued as 4F2A for <somebody@example.com>');
    },
  });
  server.on('error', () => {}); // clients that hang up
  server.server.on('connection', (socket: Socket) => {
    connectionCount += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    deliveries,
    connectionCount: () => connectionCount,
    contentReceived,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

export interface ScriptedServer extends AsyncDisposable {
  url: string;
  port: number;
}

/** A server that says what it is told, for what no real one does: the greeting, then one answer per line it reads. */
export async function startScriptedServer(
  greeting: string | null,
  answer: (line: string, socket: Socket) => string | null = () => null,
): Promise<ScriptedServer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    if (greeting) socket.write(`${greeting}\r\n`);
    let rest = '';
    socket.on('data', (chunk) => {
      const lines = (rest + chunk.toString()).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const reply = answer(line, socket);
        if (reply !== null && !socket.destroyed) socket.write(`${reply}\r\n`);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function promiseWithResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
