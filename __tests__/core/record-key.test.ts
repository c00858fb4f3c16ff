import fc from 'fast-check';
import {
  isRecordName,
  recordKey,
  recordKeyDigest,
  recordKeyParts,
} from '../../src/core/record-key.ts';

describe('the record key', () => {
  test('is the bare key when there is neither tenant nor operation', () => {
    expect(recordKey(undefined, undefined, 'label-req-7')).toBe('label-req-7');
  });

  test('never joins two different requests into one', () => {
    expect(recordKey('a|b', undefined, 'c')).not.toBe(recordKey('a', undefined, 'b|c'));
    expect(recordKey('a', undefined, 'k')).not.toBe(recordKey(undefined, 'a', 'k'));
    const name = fc.option(fc.string({ minLength: 1 }), { nil: undefined });
    const triple = fc.tuple(name, name, fc.stringMatching(/^[!-~]{1,20}$/));
    fc.assert(
      fc.property(triple, triple, (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        expect(recordKey(...one) === recordKey(...other)).toBe(isSame);
      }),
    );
  });

  test('can be read back into what it was made of', () => {
    const name = fc.option(fc.string({ minLength: 1 }), { nil: undefined });
    const key = fc.stringMatching(/^[!-~]{1,20}$/);
    fc.assert(
      fc.property(name, name, key, (tenant, operation, bare) => {
        const parts = recordKeyParts(recordKey(tenant, operation, bare));
        expect(parts).toEqual({ tenant, operation, key: bare });
      }),
    );
  });

  test('is frozen: its golden vectors do not change', () => {
    const vectors = [
      recordKey(undefined, 'POST /labels', 'k'),
      recordKey('acme', undefined, 'k'),
      recordKey('acme', 'POST /labels', 'k'),
      recordKey('größe', 'POST /v1/labels', 'K-1'),
    ].map((each) => [each, recordKeyDigest(each).toString('hex')]);
    expect(vectors).toMatchInlineSnapshot(`
[
  [
    "o12:POST /labelsk",
    "45e11145da51fafe8b628074e39d2f2977bba750fba1b87d7cf58101197bb230",
  ],
  [
    "t4:acmek",
    "6026af24d40ebea53dfd00b7e3584c35ea062a61bd729b2a8923df7edf824db7",
  ],
  [
    "t4:acmeo12:POST /labelsk",
    "e1a5e4a3a32994bcc6e2aec7a45cff9e84e3a63ff0db5bc602d1cd5f5a73cf3e",
  ],
  [
    "t5:größeo15:POST /v1/labelsK-1",
    "362da32188c48461ab1ed3c43ec053207a3421fac4cafb2ef60ad971edfd3a3a",
  ],
]
`);
  });

  test('takes no name that is empty, is no string or becomes another one in UTF-8', () => {
    expect([undefined, '', 7, 'a\ud800', '\udc00'].map(isRecordName)).not.toContain(true);
    expect(isRecordName('größe 🎈')).toBe(true);
  });
});
