import { expect, test } from 'vitest';
import { hashPassword, requirePasswordHash, verifyPassword } from '../../../src/http/operator/password.ts';

test('a password is recognised, and another is not', async () => {
  const stored = await hashPassword('correct horse');
  expect(stored).toMatch(/^scrypt:32768:8:3:[^:]+:[^:]+$/);
  expect(await verifyPassword('correct horse', stored)).toBe(true);
  expect(await verifyPassword('correct horse ', stored)).toBe(false);
  expect(await verifyPassword('', stored)).toBe(false);
});

test('the same password has another hash each time', async () => {
  expect(await hashPassword('x')).not.toBe(await hashPassword('x'));
});

test('letters that look the same are the same, however they were typed', async () => {
  const stored = await hashPassword('caf\u00e9');
  expect(await verifyPassword('cafe\u0301', stored)).toBe(true);
});

test.each([
  'scrypt:',
  'scrypt:example',
  'correct horse',
  'scrypt:1000:8:1:c2FsdA==:aGFzaGhhc2hoYXNoaGFzaA==',
  'scrypt:16777216:8:1:c2FsdA==:aGFzaGhhc2hoYXNoaGFzaA==',
  'scrypt:1024:0:1:c2FsdA==:aGFzaGhhc2hoYXNoaGFzaA==',
  'scrypt:1024:8:1:c2FsdA==:eA==',
])('%s is refused as a configuration', (stored) => {
  expect(() => requirePasswordHash(stored)).toThrow(expect.objectContaining({ code: 'configuration' }));
});
