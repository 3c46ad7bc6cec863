import { describe, expect, test } from 'vitest';
import { parseSmtpUrl } from '../../src/email/smtp-url.ts';
import { isBillingError } from '../../src/errors.ts';

describe('an SMTP URL', () => {
  test.each([
    ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, secure: false }],
    ['smtps://mail.example.com', { host: 'mail.example.com', port: 465, secure: true }],
    ['smtp://127.0.0.1:2525', { host: '127.0.0.1', port: 2525, secure: false }],
    ['smtp://[::1]:25', { host: '::1', port: 25, secure: false }],
    [
      'smtp://robot%40example.com:p%3Aw%2F%25@mail.example.com',
      {
        host: 'mail.example.com',
        port: 587,
        secure: false,
        auth: { user: 'robot@example.com', pass: 'p:w/%' },
      },
    ],
    ['smtp://h?requireTLS=true', { host: 'h', port: 587, secure: false, requireTLS: true }],
    ['smtp://h?ignoreTLS=1', { host: 'h', port: 587, secure: false, ignoreTLS: true }],
    ['smtp://h?opportunisticTLS=false', { host: 'h', port: 587, secure: false, opportunisticTLS: false }],
    [
      'smtp://h?tls.rejectUnauthorized=false&tls.servername=mail.example.com',
      {
        host: 'h',
        port: 587,
        secure: false,
        tls: { rejectUnauthorized: false, servername: 'mail.example.com' },
      },
    ],
  ])('%s is read', (url, server) => {
    expect(parseSmtpUrl(url)).toEqual(server);
  });

  test.each([
    'mail.example.com',
    '',
    'http://mail.example.com',
    'smtp://',
    'smtp://h:99999',
    'smtp://robot:s3cret%zz@h',
    'smtp://robot:s3cret@h?requireTLS',
    'smtp://robot:s3cret@h?requireTLS=yes',
    'smtp://robot:s3cret@h?sendmail=true',
    'smtp://robot:s3cret@h?logger=true',
    'smtp://robot:s3cret@h?disableFileAccess=false',
    'smtp://robot:s3cret@h?s3cret=1',
  ])('%s is refused as a fault of the configuration, without repeating a secret', (url) => {
    const error = thrownBy(() => parseSmtpUrl(url));
    expect(isBillingError(error, 'configuration')).toBe(true);
    expect(String(error)).not.toContain('s3cret');
    expect(String(error)).toContain('the SMTP URL');
  });
});

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
