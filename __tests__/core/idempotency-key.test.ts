import fc from 'fast-check';
import { parseIdempotencyKey } from '../../src/core/idempotency-key.ts';

describe('the value of the key header', () => {
  test.each([
    ['bare', 'k-1', 'k-1'],
    ['quoted', '"k-1"', 'k-1'],
    ['with an escaped quote', '"a\\"b"', 'a"b'],
    ['with an escaped backslash', '"a\\\\b"', 'a\\b'],
    ['bare, with a quote inside', 'a"b', 'a"b'],
    ['bare, with commas', 'a,b', 'a,b'],
    ['of 255 characters', 'k'.repeat(255), 'k'.repeat(255)],
    ['of 255 characters, quoted', `"${'k'.repeat(255)}"`, 'k'.repeat(255)],
  ])('names a key when it is %s', (_, value, key) => {
    expect(parseIdempotencyKey(value)).toBe(key);
  });

  test.each([
    ['empty', ''],
    ['an empty string in quotes', '""'],
    ['of 256 characters', 'k'.repeat(256)],
    ['of 256 characters, quoted', `"${'k'.repeat(256)}"`],
    ['with a space', 'a b'],
    ['with a space in quotes', '"a b"'],
    ['with a tab', 'a\tb'],
    ['with a letter beyond ASCII', 'é'],
    ['with a control character', 'a\u001fb'],
    ['opened by a quote only', '"abc'],
    ['one quote', '"'],
    ['two strings', '"a""b"'],
    ['a string with parameters', '"a";b=1'],
    ['with an escape that is none', '"a\\b"'],
    ['ended by an escape', '"a\\"'],
  ])('names none when it is %s', (_, value) => {
    expect(parseIdempotencyKey(value)).toBeUndefined();
  });

  test('may be longer where an application chooses it', () => {
    expect(parseIdempotencyKey('k'.repeat(4_096), 4_096)).toBe('k'.repeat(4_096));
    expect(parseIdempotencyKey('k'.repeat(4_097), 4_096)).toBeUndefined();
  });

  test('every key of visible ASCII is the same key bare and quoted', () => {
    const character = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
    const keys = fc.array(character, { minLength: 1, maxLength: 255 }).map((all) => all.join(''));
    fc.assert(
      fc.property(keys, (key) => {
        const quoted = `"${key.replace(/["\\]/g, '\\$&')}"`;
        expect(parseIdempotencyKey(quoted)).toBe(key);
        if (!key.startsWith('"')) expect(parseIdempotencyKey(key)).toBe(key);
      }),
    );
  });
});
