import { describe, expect, test } from 'vitest';
import { oneLine } from '../../src/email/plain-text.ts';

describe('one clean line', () => {
  test.each([
    ['Receipt\r\nBcc: eve@evil.example', 'Receipt Bcc: eve@evil.example'],
    ['a\u0000b\u0007c\u0085d\u2028e\u2029f', 'a b c d e f'],
    ['pay \u202e00.1\u202c now \u2066x\u2069', 'pay 00.1 now x'],
    ['  much\t\t space \n', 'much space'],
    ['half \ud83d of it', 'half \ufffd of it'],
    ['שלום, 東京 🥐', 'שלום, 東京 🥐'],
  ])('of %j is %j', (text, line) => {
    expect(oneLine(text, 100)).toBe(line);
  });

  test('is cut at the limit, never inside a character', () => {
    expect(oneLine('🥐🥐🥐🥐', 4)).toBe('🥐🥐🥐🥐');
    expect(oneLine('🥐🥐🥐🥐', 3)).toBe('🥐🥐…');
    expect(oneLine('one two three', 9)).toBe('one two…');
  });
});
