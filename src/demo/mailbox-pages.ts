/** The mailbox as people read it. Everything in a mail is somebody else's text: escaped, or shut in a sandbox. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DeliveredMail, Mailbox } from './mailbox.ts';

const LISTED_MAX = 200;

/** `/`, `/mails/N`, `/mails/N/html` and, for programs, `/counts.json`. Never rejects. */
export async function answerMailboxRequest(
  mailbox: Mailbox,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const path = new URL(request.url ?? '/', 'http://mailbox').pathname;
    const [, number, part] = /^\/mails\/(\d{1,9})(\/html)?$/.exec(path) ?? [];
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return answer(response, 405, page('Only for reading', ''));
    if (path === '/') return answer(response, 200, await listPage(mailbox));
    if (path === '/counts.json') return answerCounts(mailbox, response);
    const mail = number === undefined ? null : await mailbox.message(Number(number));
    if (!mail)
      return answer(
        response,
        404,
        page('Not here', '<p>There is no such mail, or it is no longer kept.</p>'),
      );
    if (part) return answer(response, 200, mail.html, MAIL_POLICY);
    answer(response, 200, mailPage(mail));
  } catch {
    answer(response, 500, page('This mail cannot be read', ''));
  }
}

const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; frame-ancestors 'none'";
/** The mail's own document: styles and built-in pictures, and nothing that runs or tells anybody of its reader. */
const MAIL_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'";

function answer(response: ServerResponse, status: number, body: string, policy = PAGE_POLICY): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
  response.end(body);
}

function answerCounts(mailbox: Mailbox, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify({ delivered: mailbox.deliveredCount(), duplicates: mailbox.duplicates() }));
}

async function listPage(mailbox: Mailbox): Promise<string> {
  const delivered = mailbox.deliveredCount();
  const mails = (await mailbox.messages(LISTED_MAX)).reverse();
  const rows = mails.map(
    (mail) => `<tr>
      <td class="figure">${mail.number}</td>
      <td><a href="/mails/${mail.number}">${escaped(mail.subject || '(no subject)')}</a></td>
      <td>${escaped(mail.to.join(', '))}</td>
      <td class="quiet">${time(mail.receivedAt)}</td>
    </tr>`,
  );
  const shown = mails.length < delivered ? `, of which the newest ${mails.length} are shown` : '';
  const again = mailbox.duplicates();
  return page(
    'Mailbox',
    `<p>${delivered} ${delivered === 1 ? 'mail' : 'mails'} delivered${shown};
      ${again === 0 ? 'none of them twice' : `<strong>${again} delivered again</strong>`}.
      Nothing leaves this machine.</p>
    ${
      rows.length === 0
        ? '<p class="quiet">No mail yet. Reload this page in a moment.</p>'
        : `<table><thead><tr><th class="figure">No.</th><th>Subject</th><th>To</th><th>Received (UTC)</th></tr></thead>
          <tbody>${rows.join('')}</tbody></table>`
    }`,
  );
}

function mailPage(mail: DeliveredMail): string {
  const fields = [
    ['From', mail.from],
    ['To', mail.to.join(', ')],
    ['Received', `${time(mail.receivedAt)} UTC`],
    ['Message-ID', mail.messageId || 'none'],
  ];
  const rows = fields.map(([name, value]) => `<dt>${name}</dt><dd>${escaped(value ?? '')}</dd>`);
  const html = mail.html
    ? `<h2>As HTML</h2><iframe sandbox src="/mails/${mail.number}/html" title="The mail as HTML"></iframe>`
    : '';
  const text = mail.text ? `<h2>As text</h2><pre>${escaped(mail.text)}</pre>` : '';
  return page(
    mail.subject || '(no subject)',
    `<p><a href="/">All mails</a></p><dl>${rows.join('')}</dl>${html}${text}`,
  );
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>
  :root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 15%, transparent); }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
  h1 { font-size: 1.5rem; margin: 0 0 .5rem; overflow-wrap: anywhere; }
  h2 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; padding: .4rem .75rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
  .figure { text-align: right; font-variant-numeric: tabular-nums; }
  .quiet { opacity: .7; white-space: nowrap; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
  dt { opacity: .7; } dd { margin: 0; overflow-wrap: anywhere; }
  iframe { width: 100%; height: 32rem; border: 1px solid var(--line); border-radius: 6px; background: #fff; color-scheme: light; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 1rem; border: 1px solid var(--line); border-radius: 6px; }
</style>
<h1>${escaped(title)}</h1>
${body}
</html>`;
}

function time(moment: Date): string {
  return moment.toISOString().slice(0, 19).replace('T', ' ');
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
