import fc from 'fast-check';
import { canonicalJson } from '../../src/core/canonical-json.ts';

describe('canonical JSON', () => {
  test('is what JSON.stringify makes of a value whose members are sorted already', () => {
    const nested = [[1, [2, { a: [] }]], { a: 1, b: { c: null } }];
    const values = [null, true, 1.5, 'é"\n', [], {}, ...nested];
    for (const value of values) expect(canonicalJson(value)).toBe(JSON.stringify(value));
  });

  test('does not depend on the order of members', () => {
    expect(canonicalJson({ b: 1, a: { d: 1, c: 2 } })).toBe('{"a":{"c":2,"d":1},"b":1}');
  });

  test('sorts the members of small and of large objects by UTF-16 code units', () => {
    const name = fc.string({ unit: 'binary' });
    const few = fc.uniqueArray(name, { maxLength: 8 });
    const many = fc.uniqueArray(name, { minLength: 17, maxLength: 40 });
    fc.assert(
      fc.property(fc.oneof(few, many), (some) => {
        const object = Object.fromEntries(some.map((name) => [name, 1]));
        const written = Object.keys(object).sort();
        expect(canonicalJson(object)).toBe(
          `{${written.map((name) => `${JSON.stringify(name)}:1`).join(',')}}`,
        );
      }),
    );
  });

  test('writes every text as JSON.stringify does', () => {
    const units = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code));
    for (const unit of [...units, '\ud800', '\u2028']) {
      expect(canonicalJson(unit)).toBe(JSON.stringify(unit));
      expect(canonicalJson([`a${unit}b`])).toBe(JSON.stringify([`a${unit}b`]));
    }
  });

  test('is equal exactly for values that are equal as JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const text = canonicalJson(one);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(one)));
        expect(canonicalJson(JSON.parse(JSON.stringify(one)))).toBe(text);
        if (canonicalJson(other) === text) {
          expect(JSON.parse(JSON.stringify(other))).toEqual(JSON.parse(JSON.stringify(one)));
        }
      }),
    );
  });

  test('takes 1 and 1.0, and -0 and 0, for one number', () => {
    expect(canonicalJson(JSON.parse('[1.0,-0]'))).toBe('[1,0]');
  });

  test('keeps a member that is called __proto__', () => {
    expect(canonicalJson(JSON.parse('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}');
  });

  test('leaves out what JSON has no word for, as JSON.stringify does', () => {
    const value = { a: undefined, b: () => 1, c: Symbol('c'), d: [undefined], e: 1 };
    expect(canonicalJson(value)).toBe(JSON.stringify(value));
    expect(canonicalJson(undefined)).toBe('null');
  });

  test('asks toJSON, and writes a bigint as digits that no number is equal to', () => {
    expect(canonicalJson({ at: new Date(0), n: 10n })).toBe(
      '{"at":"1970-01-01T00:00:00.000Z","n":10n}',
    );
  });

  test('tells a number without an end from none', () => {
    expect(canonicalJson(JSON.parse('[1e400,-1e400,null]'))).toBe('[Infinity,-Infinity,null]');
    expect(canonicalJson([Number.NaN])).toBe('[NaN]');
  });

  test.each([
    new Map([['a', 1]]),
    new Set([1]),
    new URLSearchParams('a=1'),
    new ArrayBuffer(1),
    new Error('a'),
    new (class {
      readonly #hidden = 1;
      get hidden(): number {
        return this.#hidden;
      }
    })(),
  ])('of an object that shows nothing of what it holds is refused: %p', (value) => {
    expect(() => canonicalJson(value)).toThrow('Give the `fingerprint` option');
    expect(() => canonicalJson({ inside: [value] })).toThrow('shows nothing of what it holds');
  });

  test('of what shows its members is what they are, whatever made it', () => {
    const made = Object.assign(Object.create(null), { a: Object.create(null) });
    class Parcel {
      readonly weight = 1;
    }
    expect(canonicalJson([made, new Parcel(), {}, []])).toBe('[{"a":{}},{"weight":1},{},[]]');
    expect(canonicalJson(require('node:vm').runInNewContext('({})'))).toBe('{}');
  });

  test('is made of 100,000 nested arrays without a stack overflow', () => {
    const text = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(canonicalJson(JSON.parse(text))).toBe(text);
  });

  test('of a value that contains itself is refused with the mend', () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    expect(() => canonicalJson(circle)).toThrow('Give the `fingerprint` option');
  });
});
