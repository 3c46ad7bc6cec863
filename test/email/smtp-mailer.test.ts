import { describe, expect, test } from 'vitest';
import { openSmtpMailer, type SmtpTimeouts } from '../../src/email/smtp-mailer.ts';
import type { MailMessage, MailOutcome } from '../../src/operations/ports.ts';
import { startScriptedServer, startSmtpServer } from './smtp-test-server.ts';

const QUICK: Partial<SmtpTimeouts> = {
  dnsMs: 300,
  connectMs: 400,
  greetingMs: 200,
  silenceMs: 300,
  totalMs: 5_000,
};

const message: MailMessage = {
  messageId: '<receipt-0198c0de@billing.example.com>',
  fromName: 'Example Ltd',
  fromAddress: 'billing@example.com',
  to: ['ann@customer.example'],
  subject: 'Receipt for invoice INV-2026-000001 from Example Ltd',
  text: 'Thank you.\n.\nA line that is a dot, above.\n',
  html: '<p>Thank you.</p>',
};

describe('a message that the server takes', () => {
  test('arrives as it was given, with its Message-ID unchanged', async () => {
    await using server = await startSmtpServer();

    const outcome = await openSmtpMailer({ smtpUrl: server.url }).send(message);

    expect(outcome).toEqual({ kind: 'sent', reply: '250 2.0.0 queued as 4F2A for (address)' });
    const [delivery] = server.deliveries;
    expect(delivery?.from).toBe('billing@example.com');
    expect(delivery?.to).toEqual(['ann@customer.example']);
    expect(delivery?.mail.messageId).toBe(message.messageId);
    expect(delivery?.mail.subject).toBe(message.subject);
    expect(delivery?.mail.text).toBe(message.text);
    expect(delivery?.mail.html).toBe(message.html);
    expect(delivery?.mail.from?.value).toEqual([{ name: 'Example Ltd', address: 'billing@example.com' }]);
    expect(delivery?.mail.headers.get('auto-submitted')).toBe('auto-generated');
    expect(delivery?.mail.attachments).toEqual([]);
  });

  test('goes to several recipients in one hand-over, to each of them once', async () => {
    await using server = await startSmtpServer();

    const outcome = await openSmtpMailer({ smtpUrl: server.url }).send({
      ...message,
      to: ['ann@customer.example', 'bob@customer.example', 'ann@customer.example'],
    });

    expect(outcome.kind).toBe('sent');
    expect(server.deliveries.map((delivery) => delivery.to)).toEqual([
      ['ann@customer.example', 'bob@customer.example'],
    ]);
  });

  test('carries words outside ASCII', async () => {
    await using server = await startSmtpServer();

    await openSmtpMailer({ smtpUrl: server.url }).send({
      ...message,
      fromName: 'Bäckerei "Süß", GmbH',
      subject: 'Quittung für 東京 🥐',
    });

    const [delivery] = server.deliveries;
    expect(delivery?.mail.subject).toBe('Quittung für 東京 🥐');
    expect(delivery?.mail.from?.value[0]?.name).toBe('Bäckerei "Süß", GmbH');
  });

  test('introduces this host by the given name', async () => {
    let greeted = '';
    await using server = await startSmtpServer({
      onMailFrom: (_address, session, done) => {
        greeted = session.hostNameAppearsAs || '';
        done();
      },
    });

    await openSmtpMailer({ smtpUrl: server.url, ehloName: 'worker-1.example.com' }).send(message);

    expect(greeted).toBe('worker-1.example.com');
  });

  test('counts as sent if only some recipients were refused, and says how many without naming them', async () => {
    await using server = await startSmtpServer({
      onRcptTo: refuse('bob', 550, 'no such user bob@customer.example'),
    });

    const outcome = await openSmtpMailer({ smtpUrl: server.url }).send({
      ...message,
      to: ['ann@customer.example', 'bob@customer.example', 'cy@customer.example'],
    });

    expect(outcome).toEqual({
      kind: 'sent',
      reply: '250 2.0.0 queued as 4F2A for (address) (1 of 3 recipients refused)',
    });
    expect(server.deliveries.map((delivery) => delivery.to)).toEqual([
      ['ann@customer.example', 'cy@customer.example'],
    ]);
  });
});

describe('a message that the server refuses', () => {
  test.each([
    [550, 'rejected'],
    [450, 'not_sent'],
  ] as const)('with %i for its only recipient is %s', async (code, kind) => {
    await using server = await startSmtpServer({
      onRcptTo: refuse('ann', code, '5.1.1 ann@customer.example unknown'),
    });

    const outcome = await openSmtpMailer({ smtpUrl: server.url }).send(message);

    expect(outcome).toEqual({ kind, reason: `the mail server answered ${code} 5.1.1 to the recipients` });
    expect(server.deliveries).toEqual([]);
  });

  test('for good to one recipient and for now to the other is not sent, and may be tried again', async () => {
    await using server = await startSmtpServer({
      onRcptTo: (address, _session, done) =>
        done(Object.assign(new Error('no'), { responseCode: address.address.startsWith('ann') ? 450 : 550 })),
    });

    const outcome = await openSmtpMailer({ smtpUrl: server.url }).send({
      ...message,
      to: ['ann@customer.example', 'bob@customer.example'],
    });

    expect(outcome).toEqual({ kind: 'not_sent', reason: 'the mail server answered 450 to the recipients' });
  });

  test('for its sender is rejected', async () => {
    await using server = await startSmtpServer({ onMailFrom: refuse('billing', 553, 'sender not allowed') });

    const outcome = await openSmtpMailer({ smtpUrl: server.url }).send(message);

    expect(outcome).toEqual({ kind: 'rejected', reason: 'the mail server answered 553 to the sender' });
  });

  test.each([
    [554, 'rejected'],
    [451, 'not_sent'],
    [421, 'not_sent'],
  ] as const)('with %i after its content is %s', async (code, kind) => {
    await using server = await startSmtpServer({}, { code, text: 'no, ann@customer.example' });

    const outcome = await openSmtpMailer({ smtpUrl: server.url }).send(message);

    expect(outcome).toEqual({ kind, reason: `the mail server answered ${code} to the message` });
  });

  test('because the log-in is wrong is not sent, and the reason holds no credentials', async () => {
    await using server = await startSmtpServer({
      disabledCommands: ['STARTTLS'],
      onAuth: (_auth, _session, done) => done(new Error('5.7.8 wrong password s3cret for robot')),
    });

    const outcome = await openSmtpMailer({ smtpUrl: withUser(server.url, 'robot:s3cret') }).send(message);

    expect(outcome).toEqual({ kind: 'not_sent', reason: 'the mail server refused the log-in (535 5.7.8)' });
  });

  test('because it wants a log-in that is not configured is not sent', async () => {
    await using server = await startSmtpServer({ disabledCommands: ['STARTTLS'], onAuth: () => {} });

    const outcome = await openSmtpMailer({ smtpUrl: server.url }).send(message);

    expect(outcome).toEqual({
      kind: 'not_sent',
      reason: expect.stringContaining('asks for a log-in or for TLS (530'),
    });
  });

  test('in its greeting is not sent: the message was never shown', async () => {
    await using server = await startScriptedServer('554 5.3.2 no service here');

    const outcome = await openSmtpMailer({ smtpUrl: server.url, timeouts: QUICK }).send(message);

    expect(outcome).toEqual({
      kind: 'not_sent',
      reason: 'the mail server answered 554 5.3.2 to the connection',
    });
  });
});

describe('a log-in', () => {
  test('uses the percent-decoded user and password', async () => {
    const seen: unknown[] = [];
    await using server = await startSmtpServer({
      disabledCommands: ['STARTTLS'],
      onAuth: (auth, _session, done) => {
        seen.push(auth.username, auth.password);
        done(null, { user: 'robot' });
      },
    });

    const outcome = await openSmtpMailer({
      smtpUrl: withUser(server.url, 'robot%40example.com:p%3Aw%2F%25'),
    }).send(message);

    expect(outcome.kind).toBe('sent');
    expect(seen).toEqual(['robot@example.com', 'p:w/%']);
  });
});

describe('a server that cannot be reached', () => {
  test('for a refused connection: not sent', async () => {
    const server = await startSmtpServer();
    await server[Symbol.asyncDispose]();

    const outcome = await openSmtpMailer({ smtpUrl: server.url }).send(message);

    expect(outcome).toEqual({ kind: 'not_sent', reason: 'the mail server cannot be reached (ECONNREFUSED)' });
  });

  test('for a greeting that never comes: not sent', async () => {
    await using server = await startScriptedServer(null);

    const outcome = await openSmtpMailer({ smtpUrl: server.url, timeouts: QUICK }).send(message);

    expect(outcome).toEqual({
      kind: 'not_sent',
      reason: 'the mail server did not answer in time (GREETING_TIMEOUT)',
    });
  });

  test('for silence after the sender: not sent', async () => {
    await using server = await startSmtpServer({ onMailFrom: () => {} });

    const outcome = await openSmtpMailer({ smtpUrl: server.url, timeouts: QUICK }).send(message);

    expect(outcome).toEqual({
      kind: 'not_sent',
      reason: 'the mail server did not answer in time (SOCKET_TIMEOUT)',
    });
  });

  test('for replies that trickle for ever: not sent, after the limit for the whole hand-over', async () => {
    await using server = await startScriptedServer('220 hello', (line, socket) => {
      if (!line.startsWith('EHLO')) return null;
      const timer = setInterval(() => socket.write('250-MORE\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
      return null;
    });

    const outcome = await openSmtpMailer({ smtpUrl: server.url, timeouts: { ...QUICK, totalMs: 250 } }).send(
      message,
    );

    expect(outcome).toEqual({ kind: 'not_sent', reason: 'the hand-over took too long' });
  });

  test('for TLS that is required and not offered: not sent, and nothing is said in clear text', async () => {
    await using server = await startSmtpServer();

    const outcome = await openSmtpMailer({ smtpUrl: `${server.url}?requireTLS=true` }).send(message);

    expect(outcome).toEqual({
      kind: 'not_sent',
      reason: expect.stringMatching(/^the mail server answered 5\d\d.* to STARTTLS$/),
    });
    expect(server.deliveries).toEqual([]);
  });

  test('for a certificate that nobody vouches for: not sent', async () => {
    await using server = await startSmtpServer({ disabledCommands: ['AUTH'] }); // with its own certificate

    const outcome = await openSmtpMailer({ smtpUrl: server.url }).send(message);

    expect(outcome.kind).toBe('not_sent');
    expect(server.deliveries).toEqual([]);
  });

  test('for that certificate, with the check switched off: sent over TLS', async () => {
    await using server = await startSmtpServer({
      disabledCommands: ['AUTH'],
      onMailFrom: (_address, session, done) => done(session.secure ? null : new Error('in clear text')),
    });

    const smtpUrl = `${server.url}?requireTLS=true&tls.rejectUnauthorized=false`;

    expect((await openSmtpMailer({ smtpUrl }).send(message)).kind).toBe('sent');
  });
});

describe('a message whose content was sent to the end', () => {
  test.each(['hang', 'close'] as const)(
    'and the server does nothing but %s: uncertain',
    async (afterContent) => {
      await using server = await startSmtpServer({}, afterContent);

      const outcome = await openSmtpMailer({ smtpUrl: server.url, timeouts: QUICK }).send(message);

      expect(outcome).toEqual({
        kind: 'uncertain',
        reason: expect.stringMatching(/^no reply to the message: /),
      });
    },
  );

  test('to a server that asks for it with 250 instead of 354: uncertain as well', async () => {
    await using server = await startScriptedServer('220 hello', (line, socket) => {
      if (line === '.') socket.destroy();
      return /^(?:EHLO|MAIL|RCPT|DATA)/.test(line) ? '250 go on' : null;
    });

    const outcome = await openSmtpMailer({ smtpUrl: server.url, timeouts: QUICK }).send(message);

    expect(outcome).toEqual({
      kind: 'uncertain',
      reason: 'no reply to the message: the mail server closed the connection',
    });
  });

  test('and an answer that is no SMTP reply: uncertain', async () => {
    await using server = await startScriptedServer('220 hello', (line) => {
      if (line === '.') return 'thanks!';
      if (line === 'DATA') return '354 go on';
      return /^(?:EHLO|MAIL|RCPT)/.test(line) ? '250 fine' : null;
    });

    const outcome = await openSmtpMailer({ smtpUrl: server.url, timeouts: QUICK }).send(message);

    expect(outcome.kind).toBe('uncertain');
  });

  test('is not abandoned by an abort: the reply still decides', async () => {
    const abort = new AbortController();
    const steps: string[] = [];
    await using server = await startScriptedServer('220 hello', (line, socket) => {
      if (line === '.') {
        steps.push('content');
        abort.abort();
        setTimeout(() => socket.write('250 2.0.0 taken\r\n'), 50);
        return null;
      }
      if (line === 'DATA') return '354 go on';
      return /^(?:EHLO|MAIL|RCPT)/.test(line) ? '250 fine' : null;
    });

    const outcome = await openSmtpMailer({ smtpUrl: server.url }).send(message, { signal: abort.signal });

    expect(steps).toEqual(['content']);
    expect(outcome).toEqual({ kind: 'sent', reply: '250 2.0.0 taken' });
  });
});

describe('an abort', () => {
  test('before the connection: not sent, and nobody is called', async () => {
    await using server = await startSmtpServer();

    const outcome = await openSmtpMailer({ smtpUrl: server.url }).send(message, {
      signal: AbortSignal.abort(),
    });

    expect(outcome).toEqual({ kind: 'not_sent', reason: 'the hand-over was aborted' });
    expect(server.connectionCount()).toBe(0);
  });

  test('before the content: not sent', async () => {
    const abort = new AbortController();
    await using server = await startSmtpServer({ onMailFrom: () => abort.abort() });

    const outcome = await openSmtpMailer({ smtpUrl: server.url }).send(message, { signal: abort.signal });

    expect(outcome).toEqual({ kind: 'not_sent', reason: 'the hand-over was aborted' });
  });
});

describe('data that tries to become a header or another recipient', () => {
  test.each([
    ['a line end in the subject', { subject: 'Receipt\r\nBcc: eve@evil.example\r\n\r\nBody' }],
    ['a line end in the name', { fromName: 'Example\r\nBcc: eve@evil.example' }],
    ['a lone line feed', { subject: 'Receipt\nBcc: eve@evil.example' }],
    ['another address in the name', { fromName: 'Example <eve@evil.example>, x' }],
  ])('%s stays text', async (_what, part) => {
    await using server = await startSmtpServer();

    const outcome = await openSmtpMailer({ smtpUrl: server.url }).send({ ...message, ...part });

    expect(outcome.kind).toBe('sent');
    const [delivery] = server.deliveries;
    expect(delivery?.to).toEqual(['ann@customer.example']);
    expect(delivery?.mail.headers.has('bcc')).toBe(false);
    expect(delivery?.mail.from?.value.map((from) => from.address)).toEqual(['billing@example.com']);
    expect(delivery?.mail.text).toBe(message.text);
  });

  test.each([
    ['a list in one recipient', { to: ['ann@customer.example, eve@evil.example'] }],
    ['a line end in a recipient', { to: ['ann@customer.example\r\nRCPT TO:<eve@evil.example>'] }],
    ['a display name', { to: ['Ann <ann@customer.example>'] }],
    ['a group', { to: ['all: ann@customer.example;'] }],
    ['a quoted local part', { to: ['"ann@evil.example x"@customer.example'] }],
    ['an address outside ASCII', { to: ['eva@bücher.example'] }],
    ['no recipient', { to: [] }],
    [
      'too many recipients',
      { to: Array.from({ length: 51 }, (_, index) => `reader${index}@customer.example`) },
    ],
    ['a sender that is a list', { fromAddress: 'billing@example.com,eve@evil.example' }],
    ['a Message-ID with a line end', { messageId: '<a@b>\r\nBcc: eve@evil.example' }],
  ])('%s is rejected before anybody is called', async (_what, part) => {
    await using server = await startSmtpServer();

    const outcome = await openSmtpMailer({ smtpUrl: server.url }).send({ ...message, ...part });

    expect(outcome.kind).toBe('rejected');
    expect(reasonOf(outcome)).not.toContain('@');
    expect(server.connectionCount()).toBe(0);
  });

  test('a path or an address as content is sent as the text that it is', async () => {
    await using server = await startSmtpServer();

    await openSmtpMailer({ smtpUrl: server.url }).send({
      ...message,
      text: '/etc/hostname',
      html: 'http://127.0.0.1/',
    });

    expect(server.deliveries[0]?.mail.text?.trim()).toBe('/etc/hostname');
    expect(server.deliveries[0]?.mail.html).toBe('http://127.0.0.1/');
  });
});

describe('ping', () => {
  test('is content with a server that answers', async () => {
    await using server = await startSmtpServer();
    await expect(openSmtpMailer({ smtpUrl: server.url }).ping()).resolves.toBeUndefined();
    expect(server.deliveries).toEqual([]);
  });

  test('says in one sentence where nobody answered, and tells no credentials', async () => {
    const server = await startSmtpServer();
    await server[Symbol.asyncDispose]();

    await expect(
      openSmtpMailer({ smtpUrl: withUser(server.url, 'robot:s3cret') }).ping(),
    ).rejects.toMatchObject({
      code: 'unavailable',
      message: `no mail can be handed over at 127.0.0.1:${server.port}: the mail server cannot be reached (ECONNREFUSED)`,
    });
  });

  test('does not wait for ever', async () => {
    await using server = await startScriptedServer('220 hello');
    await expect(openSmtpMailer({ smtpUrl: server.url, timeouts: QUICK }).ping()).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});

describe('close', () => {
  test('waits for the message under way, and refuses the next one as not sent', async () => {
    await using server = await startSmtpServer();
    const mailer = openSmtpMailer({ smtpUrl: server.url });

    const sending = mailer.send(message);
    await mailer.close();

    expect(server.deliveries).toHaveLength(1);
    expect((await sending).kind).toBe('sent');
    expect(await mailer.send(message)).toEqual({ kind: 'not_sent', reason: 'the mailer is closed' });
  });
});

function refuse(local: string, code: number, text: string) {
  return (address: { address: string }, _session: unknown, done: (error?: Error | null) => void) =>
    done(
      address.address.startsWith(`${local}@`) ? Object.assign(new Error(text), { responseCode: code }) : null,
    );
}

function withUser(url: string, user: string): string {
  return url.replace('smtp://', `smtp://${user}@`);
}

function reasonOf(outcome: MailOutcome): string {
  return 'reason' in outcome ? outcome.reason : '';
}
