import { describe, expect, test } from 'vitest';
import { isPlainEmailAddress } from '../../src/billing/plain-email-address.ts';

const LABEL = 'a'.repeat(63);

describe('a plain e-mail address', () => {
  test.each([
    'customer2@example.test',
    'ann+invoices@example.com',
    'Ann.Lee@mail.eu.example.co.uk',
    "o'brien@example.com",
    'a@b.cd',
    '1@1a.example',
    'ann@xn--bcher-kva.example',
    `${'a'.repeat(64)}@example.com`,
    `a@${LABEL}.${LABEL}.${LABEL}.${'a'.repeat(56)}.com`,
  ])('%s is taken', (address) => {
    expect(isPlainEmailAddress(address)).toBe(true);
  });

  test.each([
    ['nothing', ''],
    ['no domain', 'ann'],
    ['an empty local part', '@example.com'],
    ['an empty domain', 'ann@'],
    ['two @', 'ann@bob@example.com'],
    ['a bare host', 'ann@localhost'],
    ['an IP address', 'ann@127.0.0.1'],
    ['an address literal', 'ann@[127.0.0.1]'],
    ['a dot at the start', '.ann@example.com'],
    ['two dots', 'ann..lee@example.com'],
    ['a dot at the end', 'ann@example.com.'],
    ['an empty label', 'ann@example..com'],
    ['a hyphen at the edge of a label', 'ann@-example.com'],
    ['a hyphen at the end of a label', 'ann@example-.com'],
    ['an underscore in the domain', 'ann@ex_ample.com'],
    ['a display name', 'Ann <ann@example.com>'],
    ['angle brackets', '<ann@example.com>'],
    ['a quoted local part', '"ann lee"@example.com'],
    ['a comment', 'ann(home)@example.com'],
    ['a group', 'friends:ann@example.com;'],
    ['a list', 'ann@example.com,eve@evil.example'],
    ['a list with a semicolon', 'ann@example.com;eve@evil.example'],
    ['a blank', 'ann lee@example.com'],
    ['a blank before', ' ann@example.com'],
    ['a line break after', 'ann@example.com\n'],
    ['a header', 'ann@example.com\r\nBcc: eve@evil.example'],
    ['NUL', 'ann@exam\0ple.com'],
    ['a tab', 'ann\t@example.com'],
    ['a letter outside ASCII', 'jürgen@example.com'],
    ['a domain outside ASCII', 'ann@bücher.example'],
    ['a look-alike of @', 'ann＠example.com'],
    ['a percent code', 'ann@ex%61mple.com'],
    ['a long local part', `${'a'.repeat(65)}@example.com`],
    ['a long label', `ann@${'a'.repeat(64)}.com`],
    ['255 characters', `a@${LABEL}.${LABEL}.${LABEL}.${'a'.repeat(57)}.com`],
  ])('%s is refused', (_, address) => {
    expect(isPlainEmailAddress(address)).toBe(false);
  });

  test('is refused quickly, however it was made to be slow', () => {
    const startedMs = performance.now();
    expect(isPlainEmailAddress(`${'a.'.repeat(500_000)}@${'a-'.repeat(500_000)}`)).toBe(false);
    expect(isPlainEmailAddress(`ann@${'a.'.repeat(124)}!`)).toBe(false);
    expect(performance.now() - startedMs).toBeLessThan(500);
  });
});
