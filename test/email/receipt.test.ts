import { simpleParser } from 'mailparser';
import { createTransport } from 'nodemailer';
import { describe, expect, test } from 'vitest';
import { renderReceipt } from '../../src/email/receipt.ts';
import type { ReceiptContent } from '../../src/operations/ports.ts';

const content: ReceiptContent = {
  seller: {
    name: 'Example Ltd',
    address: { line1: '1 Market Street', city: 'London', postalCode: 'EC1A 1BB', country: 'GB' },
    taxNumber: 'GB123456789',
  },
  customer: {
    name: 'Ann Lee',
    address: {
      line1: '12 Hill Road',
      line2: null,
      city: 'Springfield',
      state: 'IL',
      postalCode: '62701',
      country: 'US',
    },
    taxNumber: null,
  },
  invoiceNumber: 'INV-2026-000001',
  issueDate: '2026-11-30',
  paidDate: '2026-12-01',
  currency: 'EUR',
  lines: [
    { description: 'Consulting', quantity: '12.50', netMinor: 187_500n },
    { description: 'Hosting', quantity: '1.000', netMinor: 8_970n },
  ],
  subtotalMinor: 196_470n,
  discountMinor: 6_470n,
  chargeMinor: 500n,
  taxes: [{ category: 'S', ratePercent: '19.00', taxMinor: 36_195n }],
  totalMinor: 226_695n,
  paidMinor: 226_695n,
  locale: 'en-GB',
};

describe('a receipt', () => {
  test('names the invoice and the seller in its subject', () => {
    expect(renderReceipt(content).subject).toBe('Receipt for invoice INV-2026-000001 from Example Ltd');
  });

  test('says the same in both forms', () => {
    const { text, html } = renderReceipt(content);
    const facts = [
      ...[
        'Example Ltd',
        'INV-2026-000001',
        '1 December 2026',
        '30 November 2026',
        'Consulting',
        '12.5',
        '€1,875.00',
      ],
      ...[
        'Hosting',
        '€89.70',
        'Subtotal',
        '€1,964.70',
        'Discount',
        '-€64.70',
        'Additional charges',
        '€5.00',
        'Tax 19%',
      ],
      ...[
        '€361.95',
        'Total (EUR)',
        '€2,266.95',
        'Ann Lee',
        '12 Hill Road',
        '62701 Springfield, IL',
        'United States',
      ],
      'Tax number GB123456789',
    ];
    for (const fact of facts) {
      expect(text, fact).toContain(fact);
      expect(html, fact).toContain(fact);
    }
  });

  test('is the same byte for byte when it is written again', () => {
    expect(renderReceipt(structuredClone(content))).toEqual(renderReceipt(content));
  });

  test('leaves out discount, charges and address where there are none', () => {
    const { text } = renderReceipt({
      ...content,
      discountMinor: 0n,
      chargeMinor: 0n,
      taxes: [{ category: 'O', ratePercent: '0', taxMinor: 0n }],
      customer: { name: 'Ann Lee', address: null, taxNumber: null },
    });
    expect(text).not.toMatch(/Discount|charges|Not subject|null|undefined/);
  });

  test('names what a tax of nothing means', () => {
    const { text } = renderReceipt({
      ...content,
      taxes: [{ category: 'AE', ratePercent: '0', taxMinor: 0n }],
    });
    expect(text).toMatch(/Tax \(reverse charge\) +€0\.00/);
  });

  test('is plain text that fits a narrow reader', () => {
    const long = { description: 'A description of many words '.repeat(6), quantity: '1', netMinor: 1n };
    const { text } = renderReceipt({ ...content, lines: [long] });
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(68);
  });

  test('shows 100 lines of a long invoice and counts the others', () => {
    const lines = Array.from({ length: 1_234 }, (_, index) => ({
      description: `Track ${index + 1}.`,
      quantity: '1',
      netMinor: 99n,
    }));
    const { text, html } = renderReceipt({ ...content, lines });
    for (const form of [text, html]) {
      expect(form).toContain('Track 100.');
      expect(form).not.toContain('Track 101.');
      expect(form).toContain('and 1,134 more lines');
    }
    expect(renderReceipt({ ...content, lines: lines.slice(0, 101) }).text).toContain('and 1 more line\n');
    expect(renderReceipt({ ...content, lines: lines.slice(0, 100) }).text).not.toContain('more line');
  });

  test('of 100 long lines stays below the size at which mail readers cut a mail', () => {
    const lines = Array.from({ length: 100 }, () => ({
      description: 'word '.repeat(40),
      quantity: '1',
      netMinor: 99n,
    }));
    expect(renderReceipt({ ...content, lines }).html.length).toBeLessThan(100_000);
  });
});

describe('figures', () => {
  test('keep every digit of an amount that no double can hold', () => {
    const minor = 1_234_567_890_123_456_789n;
    expect(renderReceipt({ ...content, totalMinor: minor }).text).toContain('€12,345,678,901,234,567.89');
    expect(renderReceipt({ ...content, totalMinor: 9_007_199_254_740_993n }).text).toContain(
      '€90,071,992,547,409.93',
    );
  });

  test.each([
    ['JPY', 1_234n, 'en', '¥1,234'],
    ['BHD', 1_234n, 'en', 'BHD\u00a01.234'],
    ['HUF', 123_456n, 'en', 'HUF\u00a01,234.56'],
    ['IDR', 123_456n, 'en', 'IDR\u00a01,234.56'],
    ['HRK', 1_234n, 'en', 'HRK\u00a012.34'],
    ['EUR', -5n, 'en', '-€0.05'],
    ['EUR', 123_456n, 'de', '1.234,56\u00a0€'],
  ])('of %s have the digits of ISO 4217 (%s minor units, %s: %s)', (currency, totalMinor, locale, shown) => {
    expect(renderReceipt({ ...content, currency, totalMinor, locale }).text).toContain(shown);
  });

  test.each([
    ['en-US', 'December 1, 2026'],
    ['de', '1. Dezember 2026'],
    ['xx', 'December 1, 2026'],
    ['not a locale', 'December 1, 2026'],
    ['', 'December 1, 2026'],
  ])('of a date are written as in %j: %s', (locale, date) => {
    expect(renderReceipt({ ...content, locale }).text).toContain(date);
  });

  test('of a date keep the Gregorian year where another calendar is usual', () => {
    expect(renderReceipt({ ...content, locale: 'th' }).text).toContain('2026');
  });

  test('that cannot be read are shown as they are, not thrown', () => {
    const odd = {
      ...content,
      paidDate: 'yesterday',
      lines: [{ description: 'x', quantity: 'a few', netMinor: 1n }],
    };
    const { text } = renderReceipt(odd);
    expect(text).toContain('yesterday');
    expect(text).toContain('a few x x');
    expect(renderReceipt({ ...content, paidDate: '2026-02-31' }).text).not.toContain('Invalid');
  });

  test('of a currency that nobody knows are shown with its code, not thrown', () => {
    for (const currency of ['QQQ', 'nonsense', '', 'XAU']) {
      expect(renderReceipt({ ...content, currency }).text).toContain(`226695 ${currency} minor units`);
    }
  });
});

describe('data in a receipt', () => {
  const attack = '<img src=x onerror="alert(1)"> \'&\' <a href="https://evil.example">pay here</a>';
  const attacked: ReceiptContent = {
    ...content,
    seller: { name: attack, address: { line1: attack }, taxNumber: attack },
    customer: { name: attack, address: { line1: attack, country: attack }, taxNumber: attack },
    invoiceNumber: attack,
    issueDate: attack,
    paidDate: attack,
    currency: attack,
    lines: [{ description: attack, quantity: attack, netMinor: 1n }],
    taxes: [{ category: attack, ratePercent: attack, taxMinor: 1n }],
    locale: attack,
  };

  test('is text in the HTML, wherever it stands', () => {
    const { html } = renderReceipt(attacked);
    expect(html).not.toMatch(/<img|<a[ >]|<script/i);
    expect(html).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt; &#39;&amp;&#39;');
    expect(html).toContain('&lt;a href=&quot;https://evil.example&quot;&gt;');
  });

  test('loads nothing, links to nowhere and tracks nobody', () => {
    const { html } = renderReceipt(content);
    expect(html).not.toMatch(/https?:|url\(|src=|href=|<link|<script|<img|@import/i);
  });

  test('cannot turn the reading direction or add lines', () => {
    const { text, html, subject } = renderReceipt({
      ...content,
      seller: { ...content.seller, name: 'Example\u202e dtL\r\nTotal: 0' },
      lines: [{ description: 'a\u2066b\nTotal (EUR)   €0.00', quantity: '1', netMinor: 1n }],
    });
    expect(subject).toBe('Receipt for invoice INV-2026-000001 from Example dtL Total: 0');
    for (const form of [text, html]) expect(form).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(text).not.toMatch(/^Total: 0/m);
    expect(text.match(/^Total \(EUR\)/gm)).toHaveLength(1);
  });

  test('does not make the subject longer than readers show', () => {
    const { subject } = renderReceipt({
      ...content,
      seller: { ...content.seller, name: 'Long '.repeat(100) },
    });
    expect(subject.length).toBeLessThanOrEqual(150);
    expect(subject).toMatch(/^Receipt for invoice INV-2026-000001 from Long .*…$/);
  });

  test('survives its way through a mail', async () => {
    const receipt = renderReceipt({
      ...content,
      customer: { ...content.customer, name: 'Bäckerei 東京 🥐' },
    });
    const built = await createTransport({ streamTransport: true, buffer: true }).sendMail({
      from: 'a@b.example',
      to: 'c@d.example',
      ...receipt,
    });
    const mail = await simpleParser(built.message as Buffer);
    expect(mail.subject).toBe(receipt.subject);
    expect(mail.text).toBe(receipt.text);
    expect(mail.html).toBe(receipt.html);
  });
});
