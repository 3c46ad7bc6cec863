import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createTransport } from 'nodemailer';
import { expect, onTestFinished, test } from 'vitest';
import { type Delivery, type Mailbox, openMailbox } from '../../src/demo/mailbox.ts';

test('a mail that was accepted can be read, as text and as HTML', async () => {
  const mailbox = await open();
  const heard: Delivery[] = [];
  mailbox.onDelivered((delivery) => heard.push(delivery));
  await send(mailbox, {
    messageId: '<one@billonce.test>',
    subject: 'Receipt für 12,34 €',
    text: 'Thank you, Zoë.',
    html: '<p>Thank you, <b>Zoë</b>.</p>',
  });
  expect(heard).toMatchObject([{ number: 1, messageId: '<one@billonce.test>', to: ['b@example.com'] }]);
  expect(await mailbox.messages()).toMatchObject([
    {
      number: 1,
      messageId: '<one@billonce.test>',
      to: ['b@example.com'],
      from: 'a@example.com',
      subject: 'Receipt für 12,34 €',
      text: expect.stringContaining('Thank you, Zoë.'),
      html: expect.stringContaining('<b>Zoë</b>'),
    },
  ]);
});

test('a second delivery under the same Message-ID is counted, whatever the bodies say', async () => {
  const mailbox = await open();
  for (const messageId of ['<one@x.test>', '<two@x.test>', '<one@x.test>', '<one@x.test>']) {
    await send(mailbox, { messageId, text: `Message-ID: <three@x.test>` });
  }
  expect(mailbox.deliveredCount()).toBe(4);
  expect(mailbox.deliveredCountOf('<one@x.test>')).toBe(3);
  expect(mailbox.deliveredCountOf('<three@x.test>')).toBe(0); // a body is no header
  expect(mailbox.duplicates()).toBe(2);
  const counts = await fetch(new URL('/counts.json', mailbox.webUrl));
  expect(await counts.json()).toEqual({ delivered: 4, duplicates: 2 });
});

test('the newest thousand are kept, and all of them are counted', { timeout: 60_000 }, async () => {
  const mailbox = await open();
  const transport = createTransport({
    url: mailbox.smtpUrl,
    pool: true,
    maxConnections: 5,
    maxMessages: 1_000,
  });
  onTestFinished(() => transport.close());
  const all = Array.from({ length: 1_010 }, (_, index) =>
    transport.sendMail({
      from: 'a@example.com',
      to: 'b@example.com',
      messageId: `<${index}@x.test>`,
      text: 'x',
    }),
  );
  await Promise.all(all);
  expect(mailbox.deliveredCount()).toBe(1_010);
  const kept = await mailbox.messages();
  expect(kept).toHaveLength(1_000);
  expect(kept[0]?.number).toBe(11);
  const page = await (await fetch(mailbox.webUrl)).text();
  expect(page).toContain('1010 mails delivered, of which the newest 200 are shown');
});

test('the pages escape what a mail says, and shut its HTML in a sandbox', async () => {
  const mailbox = await open();
  const hostile = '<script>alert(1)</script>';
  await send(mailbox, { messageId: '<one@x.test>', subject: hostile, text: hostile, html: hostile });
  for (const path of ['/', '/mails/1']) {
    const page = await fetch(new URL(path, mailbox.webUrl));
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const body = await page.text();
    expect(body).not.toContain('<script');
    expect(body).toContain('&#60;script&#62;alert(1)');
    if (path !== '/') expect(body).toMatch(/<iframe sandbox src="\/mails\/1\/html"/);
  }
  const inner = await fetch(new URL('/mails/1/html', mailbox.webUrl));
  expect(inner.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none';/);
  expect((await fetch(new URL('/mails/2', mailbox.webUrl))).status).toBe(404);
  expect((await fetch(mailbox.webUrl, { method: 'POST' })).status).toBe(405);
});

test('closing twice is closing once, and frees both ports', async () => {
  const mailbox = await openMailbox();
  await send(mailbox, { messageId: '<one@x.test>', text: 'x' });
  await Promise.all([mailbox.close(), mailbox.close()]);
  const again = await openMailbox({
    smtpPort: Number(new URL(mailbox.smtpUrl).port),
    httpPort: Number(new URL(mailbox.webUrl).port),
  });
  onTestFinished(() => again.close());
  await expect(openMailbox({ smtpPort: Number(new URL(again.smtpUrl).port) })).rejects.toThrow(/EADDRINUSE/);
});

test('as a process of its own it says where it is, and ends on SIGTERM', async () => {
  const main = fileURLToPath(new URL('../../src/demo/mailbox-main.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', main], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { smtpUrl, webUrl } = JSON.parse(line) as { smtpUrl: string; webUrl: string };
  await send({ smtpUrl }, { messageId: '<one@x.test>', subject: 'Hello', text: 'x' });
  expect(await (await fetch(webUrl)).text()).toContain('Hello');
  child.kill('SIGTERM');
  await once(child, 'exit');
  expect(child.exitCode).toBe(0);
});

async function open(): Promise<Mailbox> {
  const mailbox = await openMailbox();
  onTestFinished(() => mailbox.close());
  return mailbox;
}

async function send(
  { smtpUrl }: Pick<Mailbox, 'smtpUrl'>,
  mail: { messageId: string; subject?: string; text: string; html?: string },
): Promise<void> {
  const transport = createTransport(smtpUrl);
  await transport.sendMail({ from: 'a@example.com', to: 'b@example.com', ...mail });
  transport.close();
}
