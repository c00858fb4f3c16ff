import {
  copySavedResponse,
  decodeHead,
  decodeSavedResponse,
  encodeHead,
  encodeSavedResponse,
  type KeptResponse,
  type SavedResponse,
} from '../../src/core/saved-response.ts';

function setup() {
  const kept: KeptResponse = {
    kept: true,
    status: 201,
    reason: 'Made',
    headers: [
      ['ETag', '"label-901-v1"'],
      ['ETag', '"backup"'],
      ['Set-Cookie', 'é=1', 'added'],
    ],
    removedNames: ['x-outer'],
    body: Buffer.from([0, 255, 10, 13]),
  };
  const { reason: _, ...plain } = kept;
  const unkept: SavedResponse = { kept: false, status: 200 };
  return { kept, plain, unkept };
}

describe('a saved response', () => {
  test('is the same after it was made bytes, or text and bytes, and read again', () => {
    const { kept, plain, unkept } = setup();
    for (const response of [kept, plain, unkept]) {
      expect(decodeSavedResponse(encodeSavedResponse(response))).toEqual(response);
      const body = response.kept ? response.body : Buffer.alloc(0);
      expect(decodeHead(encodeHead(response), body)).toEqual(response);
    }
  });

  test('is frozen in its encoding: the golden vectors do not change', () => {
    const { kept, plain, unkept } = setup();
    const all = [kept, plain, unkept].map((each) => encodeSavedResponse(each).toString('hex'));
    expect(all).toMatchSnapshot();
  });

  test('shares nothing with its copy, nor with the bytes that it was read from', () => {
    const { kept, plain, unkept } = setup();
    expect([kept, plain, unkept].map(copySavedResponse)).toEqual([kept, plain, unkept]);
    const copy = copySavedResponse(kept) as KeptResponse;
    const bytes = encodeSavedResponse(kept);
    const read = decodeSavedResponse(bytes) as KeptResponse;
    kept.body.fill(7);
    (kept.headers[0] as unknown as string[])[1] = 'changed';
    (kept.removedNames as string[]).push('changed');
    bytes.fill(7);
    expect(copy).toEqual(setup().kept);
    expect(read).toEqual(setup().kept);
  });

  test.each([
    ['empty', Buffer.alloc(0)],
    ['cut off in its prefix', Buffer.from([1, 0, 0, 0])],
    ['of another version', Buffer.from([2, 0, 0, 0, 0])],
    ['cut off in its head', Buffer.from([1, 0, 0, 0, 9, 123])],
  ])('whose bytes are %s cannot be read', (_, bytes) => {
    expect(() => decodeSavedResponse(bytes)).toThrow(
      expect.objectContaining({ code: 'record_corrupt' }),
    );
  });

  test.each([
    ['no JSON', '{'],
    ['null', 'null'],
    ['a number', '7'],
    ['of another version', '{"v":2,"status":200}'],
    ['without a status', '{"v":1}'],
    ['of status 99', '{"v":1,"status":99}'],
    ['of status 1000', '{"v":1,"status":1000}'],
    ['of headers that are no list', '{"v":1,"status":200,"headers":{},"removedNames":[]}'],
    ['of a line that is no list', '{"v":1,"status":200,"headers":["a"],"removedNames":[]}'],
    ['of a line of one', '{"v":1,"status":200,"headers":[["a"]],"removedNames":[]}'],
    ['of a line of four', '{"v":1,"status":200,"headers":[["a","b","c","d"]],"removedNames":[]}'],
    ['of a mark unknown', '{"v":1,"status":200,"headers":[["a","b","c"]],"removedNames":[]}'],
    ['of removed names that are none', '{"v":1,"status":200,"headers":[],"removedNames":[1]}'],
    ['of a numeric reason', '{"v":1,"status":200,"headers":[],"removedNames":[],"reason":1}'],
  ])('whose head is %s cannot be read', (_, head) => {
    expect(() => decodeHead(head, Buffer.alloc(0))).toThrow(
      expect.objectContaining({ code: 'record_corrupt' }),
    );
  });
});
