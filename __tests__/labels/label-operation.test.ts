import { labelFingerprint, parseLabelOperation } from '../../src/labels/label-operation.ts';

function setup() {
  return { parse: (text: string | Buffer) => parseLabelOperation(Buffer.from(text)) };
}

const OPERATION = { request_id: 'label-req-7', parcel_id: 'parcel-42' };

describe('a body that names an operation', () => {
  test.each([
    ['as the client sends it', '{"request_id":"label-req-7","parcel_id":"parcel-42"}'],
    ['members in the other order', '{"parcel_id":"parcel-42","request_id":"label-req-7"}'],
    [
      'white space of every kind',
      ' \t\r\n{ "parcel_id"\t:\n"parcel-42" ,\r"request_id" : "label-req-7"} \t\r\n',
    ],
    [
      'characters written as escapes',
      '{"\\u0072equest_id":"label\\u002Dreq-7","parcel_id":"parcel-42"}',
    ],
  ])('is understood: %s', (_what, text) => {
    expect(setup().parse(text)).toEqual(OPERATION);
  });

  test('may use every character of the alphabet, and ids of any length', () => {
    const id = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'.repeat(30);
    const text = JSON.stringify({ request_id: id, parcel_id: '-' });
    expect(setup().parse(text)).toEqual({ request_id: id, parcel_id: '-' });
  });
});

describe('every other body is refused', () => {
  const refused: [what: string, text: string | Buffer][] = [
    ['nothing at all', ''],
    ['white space only', ' \n'],
    ['not JSON', 'request_id=label-req-7'],
    ['null', 'null'],
    ['a string', '"label-req-7"'],
    ['a list', '[{"request_id":"a","parcel_id":"b"}]'],
    ['an empty object', '{}'],
    ['no request id', '{"parcel_id":"b"}'],
    ['no parcel id', '{"request_id":"a"}'],
    ['a third member', '{"request_id":"a","parcel_id":"b","note":"c"}'],
    ['a third member of a known name', '{"request_id":"a","parcel_id":"b","parcel_id":"b"}'],
    ['the request id twice', '{"request_id":"a","request_id":"a"}'],
    ['the parcel id twice', '{"parcel_id":"a","parcel_id":"b"}'],
    ['one name twice, once as an escape', '{"request_id":"a","request_i\\u0064":"b"}'],
    ['an unknown name', '{"request_id":"a","parcel":"b"}'],
    ['a name in another case', '{"request_id":"a","Parcel_id":"b"}'],
    ['a prototype for a name', '{"request_id":"a","__proto__":"b"}'],
    ['a null value', '{"request_id":"a","parcel_id":null}'],
    ['a number', '{"request_id":"a","parcel_id":42}'],
    ['true', '{"request_id":"a","parcel_id":true}'],
    ['false', '{"request_id":false,"parcel_id":"b"}'],
    ['a list for a value', '{"request_id":"a","parcel_id":["b"]}'],
    ['an object for a value', '{"request_id":"a","parcel_id":{}}'],
    ['an empty request id', '{"request_id":"","parcel_id":"b"}'],
    ['an empty parcel id', '{"request_id":"a","parcel_id":""}'],
    ['a dot', '{"request_id":"a","parcel_id":"b.c"}'],
    ['a space', '{"request_id":"a","parcel_id":"b c"}'],
    ['a space at the end', '{"request_id":"a","parcel_id":"b "}'],
    ['a line feed at the end', '{"request_id":"a","parcel_id":"b\\n"}'],
    ['a raw line feed', '{"request_id":"a","parcel_id":"b\n"}'],
    ['a letter of another alphabet', '{"request_id":"a","parcel_id":"посылка"}'],
    ['an accent', '{"request_id":"a","parcel_id":"é"}'],
    ['a null character', '{"request_id":"a","parcel_id":"b\\u0000"}'],
    ['half a character', '{"request_id":"a","parcel_id":"\\ud83d"}'],
    ['bytes that are not UTF-8', Buffer.from('{"request_id":"a","parcel_id":"\xff"}', 'latin1')],
    ['an escape that JSON does not know', '{"request_id":"a","parcel_id":"\\x62"}'],
    ['an escape that is cut off', '{"request_id":"a","parcel_id":"\\u00"}'],
    ['a second value', '{"request_id":"a","parcel_id":"b"}{"request_id":"a","parcel_id":"b"}'],
    ['a second value on the next line', '{"request_id":"a","parcel_id":"b"}\nnull'],
    ['something after it', '{"request_id":"a","parcel_id":"b"};'],
    ['a comma before the brace', '{"request_id":"a","parcel_id":"b",}'],
    ['a member that is cut off', '{"request_id":"a","parcel_id":"b"'],
    ['single quotes', "{'request_id':'a','parcel_id':'b'}"],
    ['a comment', '{"request_id":"a",/**/"parcel_id":"b"}'],
    ['a byte order mark', '\ufeff{"request_id":"a","parcel_id":"b"}'],
    ['a space that JSON does not know', '\u00a0{"request_id":"a","parcel_id":"b"}'],
    ['a form feed', '{"request_id":"a",\f"parcel_id":"b"}'],
    ['UTF-16', Buffer.from('{"request_id":"a","parcel_id":"b"}', 'utf16le')],
  ];

  test.each(refused)('%s', (_what, text) => {
    expect(setup().parse(text)).toBeUndefined();
  });

  test('the largest body that never ends a string is refused at once', () => {
    const { parse } = setup();
    const startedAtMs = performance.now();
    for (const filler of ['\\"', '"', '\\u0041', '{"a":', ' ', '\\']) {
      expect(parse(`{"request_id":"${filler.repeat(4096 / filler.length)}`)).toBeUndefined();
    }
    expect(performance.now() - startedAtMs).toBeLessThan(2_000);
  });
});

describe('the fingerprint', () => {
  test('is the SHA-256 of both ids with a line feed between, in lower-case hex', () => {
    expect(labelFingerprint(OPERATION)).toBe(
      '9c2dc67e4c22f75bcc63a19e384876bc7f83fd8f117cb45df4aa1ec13e49ae3a',
    );
  });

  test('tells ids apart that are equal when they are joined', () => {
    const one = labelFingerprint({ request_id: 'ab', parcel_id: 'cd' });
    const other = labelFingerprint({ request_id: 'a', parcel_id: 'bcd' });
    expect(one).not.toBe(other);
  });
});
