import { nearestName } from '../../src/core/nearest-name.ts';
import { A_FUNCTION, checkOptions, milliseconds } from '../../src/core/option-check.ts';

const OWNER = { name: 'SomeStore', page: 'docs/options.md' };
const RULES = {
  client: { ...A_FUNCTION, isRequired: true, isSecret: true },
  waitMs: milliseconds(),
} as const;

class Pool {
  readonly size = 4;
}

test.each<[string, unknown, string]>([
  ['nothing', undefined, 'Expected SomeStore to be given an object of options, got undefined.'],
  ['a text', 'secret', 'Expected SomeStore to be given an object of options, got a string.'],
  ['a list', [], 'Expected SomeStore to be given an object of options, got an array.'],
  [
    'a text in place of a client',
    { client: 'redis://:secret@host' },
    'Expected the option `client` of SomeStore to be a function, got a string.',
  ],
  [
    'a text in place of a time',
    { client() {}, waitMs: '5 s' },
    'Expected the option `waitMs` of SomeStore to be a whole number of milliseconds from 1 to ' +
      '2147483647, got "5 s".',
  ],
  ['no client', {}, 'Expected the option `client` of SomeStore to be a function, got undefined.'],
  [
    'half a millisecond',
    { client() {}, waitMs: 0.5 },
    'Expected the option `waitMs` of SomeStore to be a whole number of milliseconds from 1 to ' +
      '2147483647, got 0.5.',
  ],
  [
    'a slip',
    { client() {}, watiMs: 1, ttl: 1 },
    'Expected known options of SomeStore, got `watiMs`, `ttl`. Did you mean `waitMs`? ' +
      'Known are client, waitMs.',
  ],
  [
    'a word of another library',
    Object.assign(Object.create(null), { client() {}, ttl: 1 }),
    'Expected known options of SomeStore, got `ttl`. Known are client, waitMs.',
  ],
  [
    'the client itself',
    new Pool(),
    'Expected SomeStore to be given { client }, got the Pool itself. ' +
      'Write new SomeStore({ client: … }).',
  ],
])('of %s is said what was expected, what came, and where to read', (_, options, sentences) => {
  const check = () => checkOptions(OWNER, options as object, RULES as never);
  expect(check).toThrow(expect.objectContaining({ code: 'option_invalid' }));
  expect(check).toThrow(new Error(`${sentences} See docs/options.md.`));
});

test('a class of settings is as good as an object, where there is no client to mistake it for', () => {
  class Settings {
    readonly waitMs = 5;
  }
  expect(() => checkOptions(OWNER, new Settings(), { waitMs: milliseconds() })).not.toThrow();
  const check = () => checkOptions(OWNER, new Pool(), { size: A_FUNCTION });
  expect(check).toThrow('Expected the option `size` of SomeStore to be a function, got 4.');
  expect(() => checkOptions(OWNER, new Pool(), { waitMs: A_FUNCTION } as never)).toThrow(
    'Expected known options of SomeStore, got `size`. Known are waitMs.',
  );
});

test.each([
  ['tabel', 'table'],
  ['TABLE', 'table'],
  ['stor', 'store'],
  ['storee', 'store'],
  ['storeTimeout', 'storeTimeoutMs'],
  ['sotreTimeout', undefined],
  ['state', undefined],
  ['', undefined],
  ['x'.repeat(100_000), undefined],
])('of %.20s the guess is %s', (written, meant) => {
  expect(nearestName(written, ['table', 'store', 'storeTimeoutMs'])).toBe(meant);
});
