import { createHash } from 'node:crypto';
import { AttemptContext } from '../../src/core/attempt-context.ts';
import { DOWNSTREAM_KEY_VECTORS } from '../../src/testing/golden-vectors.ts';

function setup(recordKey = 'k', fingerprint = 'f', owner = 'owner') {
  const names = { key: 'k', tenant: undefined, operation: undefined };
  return new AttemptContext({ ...names, recordKey, fingerprint }, owner, () => {});
}

describe('a downstream key', () => {
  test.each(DOWNSTREAM_KEY_VECTORS)(
    'is the one of every version: $name',
    ({ recordKey, fingerprint, name, text, uuid }) => {
      const attempt = setup(recordKey, fingerprint);
      expect([attempt.downstreamKey(name), attempt.downstreamKey(name, 'uuid')]).toEqual([
        text,
        uuid,
      ]);
    },
  );

  test('is a digest that anyone can compute', () => {
    const digest = createHash('sha256').update('downstream v1 1:k1:f7:carrier').digest('base64url');
    expect(setup().downstreamKey('carrier')).toBe(digest);
  });

  test('is the same in every attempt, whoever owns it and whatever its number', () => {
    const later = setup('k', 'f', 'another');
    AttemptContext.claimed(later, 7);
    expect(later.downstreamKey('carrier')).toBe(setup().downstreamKey('carrier'));
    expect(later.downstreamKey('carrier', 'text')).toBe(later.downstreamKey('carrier'));
  });

  test('is another for each name, record and fingerprint', () => {
    const keys = [
      setup().downstreamKey('carrier'),
      setup().downstreamKey('mail'),
      setup('other').downstreamKey('carrier'),
      setup('k', 'other').downstreamKey('carrier'),
      ...DOWNSTREAM_KEY_VECTORS.map(({ text }) => text),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('is text that every provider takes, or a UUID of version 8', () => {
    for (let index = 0; index < 200; index += 1) {
      const attempt = setup(`k${index}`);
      expect(attempt.downstreamKey('carrier')).toMatch(/^[A-Za-z0-9_-]{43}$/);
      expect(attempt.downstreamKey('carrier', 'uuid')).toMatch(UUID_8);
    }
  });

  test.each<[string, unknown[]]>([
    ['no name', []],
    ['an empty name', ['']],
    ['a name that is none', [7]],
    ['half a character', ['\ud800']],
    ['an unknown form', ['carrier', 'hex']],
  ])('is refused for %s', (_, args) => {
    const error = expect.objectContaining({ code: 'option_invalid' });
    expect(() => setup().downstreamKey(...(args as [string]))).toThrow(error);
  });
});

const UUID_8 = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
