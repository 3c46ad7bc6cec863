import { describe, expect, test } from 'vitest';
import { outcomeOfFailure, type SmtpFailure } from '../../src/email/mail-outcome.ts';

const silence: SmtpFailure = {
  contentBegun: false,
  reply: null,
  command: 'CONN',
  errorCode: 'ECONNECTION',
  detail: null,
};

describe('without a reply', () => {
  test.each([
    'ECONNECTION',
    'ETIMEDOUT',
    'ESOCKET',
    'EDNS',
    'ETLS',
    'EABORT',
    'EDEADLINE',
    'ESTREAM',
    'EUNKNOWN',
  ])('%s before the content is not sent, during or after it uncertain', (errorCode) => {
    expect(outcomeOfFailure({ ...silence, errorCode }).kind).toBe('not_sent');
    expect(outcomeOfFailure({ ...silence, errorCode, contentBegun: true }).kind).toBe('uncertain');
  });

  test.each(['EENVELOPE', 'EMESSAGE'])('%s is rejected: it would be refused again', (errorCode) => {
    expect(outcomeOfFailure({ ...silence, errorCode, command: 'API' }).kind).toBe('rejected');
  });
});

describe('a reply', () => {
  test.each([
    // code, command, kind before the content, kind after it
    [450, 'RCPT TO', 'not_sent', 'not_sent'],
    [451, 'DATA', 'not_sent', 'not_sent'],
    [421, 'CONN', 'not_sent', 'not_sent'],
    [454, 'STARTTLS', 'not_sent', 'not_sent'],
    [550, 'RCPT TO', 'rejected', 'rejected'],
    [553, 'MAIL FROM', 'rejected', 'rejected'],
    [554, 'DATA', 'rejected', 'rejected'],
    [503, 'DATA', 'not_sent', 'not_sent'],
    [530, 'MAIL FROM', 'not_sent', 'not_sent'],
    [554, 'CONN', 'not_sent', 'rejected'],
    [502, 'EHLO', 'not_sent', 'rejected'],
  ] as const)('of %i to %s is %s, and after the content %s', (code, command, before, after) => {
    const failure: SmtpFailure = {
      ...silence,
      command,
      reply: { code, enhanced: null },
      errorCode: 'EPROTOCOL',
    };
    expect(outcomeOfFailure(failure).kind).toBe(before);
    expect(outcomeOfFailure({ ...failure, contentBegun: true }).kind).toBe(after);
  });

  test('that is neither a success nor a refusal leaves a message uncertain once its content was sent', () => {
    const failure: SmtpFailure = { ...silence, command: 'DATA', reply: { code: 354, enhanced: null } };
    expect(outcomeOfFailure({ ...failure, contentBegun: true }).kind).toBe('uncertain');
  });

  test('to a log-in is not sent, whatever its class', () => {
    for (const code of [454, 500, 535]) {
      const failure: SmtpFailure = {
        ...silence,
        command: 'AUTH PLAIN',
        reply: { code, enhanced: '5.7.8' },
        errorCode: 'EAUTH',
      };
      expect(outcomeOfFailure(failure)).toEqual({
        kind: 'not_sent',
        reason: `the mail server refused the log-in (${code} 5.7.8)`,
      });
    }
  });
});
