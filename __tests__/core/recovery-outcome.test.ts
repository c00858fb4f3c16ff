import { done, neverStarted, unknown } from '../../src/core/recovery-outcome.ts';
import type { KeptResponse } from '../../src/core/saved-response.ts';

function setup(words: unknown) {
  const { response } = done(words as never) as { response: KeptResponse };
  return { ...response, text: Buffer.from(response.body).toString() };
}

const JSON_LINE = ['Content-Type', 'application/json'];

describe('an outcome in words', () => {
  test('is kept with its status, its lines and its bytes', () => {
    expect(setup({ status: 201, headers: { ETag: ['"a"', '"b"'], Age: 7 }, body: 'made' })).toEqual(
      {
        kept: true,
        status: 201,
        headers: [
          ['ETag', '"a"'],
          ['ETag', '"b"'],
          ['Age', '7'],
        ],
        removedNames: [],
        body: Buffer.from('made'),
        text: 'made',
      },
    );
  });

  test.each<[string, unknown, string, unknown[]]>([
    ['nothing', undefined, '', []],
    ['text', 'größe', 'größe', []],
    ['empty text', '', '', []],
    ['bytes', Uint8Array.of(104, 105), 'hi', []],
    ['an object', { a: 1 }, '{"a":1}', [JSON_LINE]],
    ['a list', [1], '[1]', [JSON_LINE]],
    ['a number', 7, '7', [JSON_LINE]],
    ['null', null, 'null', [JSON_LINE]],
    ['false', false, 'false', [JSON_LINE]],
  ])('has a body of %s', (_, body, text, headers) => {
    expect(setup({ status: 200, body })).toMatchObject({ text, headers });
  });

  test('has the media type that was named, in any spelling', () => {
    const headers = { 'content-type': 'application/problem+json' };
    expect(setup({ status: 400, headers, body: {} }).headers).toEqual([
      ['content-type', 'application/problem+json'],
    ]);
  });

  test('shares no bytes with what it was made of', () => {
    const whole = Buffer.from('xxmadexx');
    const made = setup({ status: 200, body: whole.subarray(2, 6) });
    whole.fill('y');
    expect(Buffer.from(made.body).toString()).toBe('made');
  });

  test.each<[string, unknown, string]>([
    ['a status', { status: 100 }, 'a status from 200 to 599, got 100.'],
    ['a status that is no number', { status: 'secret' }, 'a status from 200 to 599, got string.'],
    [
      'a name',
      { status: 200, headers: { 'a secret': '' } },
      'that HTTP can carry, got one that it',
    ],
    [
      'a member',
      { status: 200, secret: 1 },
      'no members but status, headers and body, got another',
    ],
  ])('is told what is wrong with %s, with no word of it', (_, words, sentence) => {
    const said = expect.objectContaining({ message: expect.stringContaining(sentence) });
    expect(() => setup(words as never)).toThrow(said);
    expect(() => setup(words as never)).not.toThrow('secret');
    expect(() => setup(words as never)).toThrow('Write { status: 201, body: {} }.');
  });

  test.each<[string, unknown]>([
    ['a member that nobody reads', { status: 200, bdy: 1 }],
    ['nothing', undefined],
    ['null', null],
    ['no status', {}],
    ['a status that is no number', { status: '201' }],
    ['half a status', { status: 200.5 }],
    ['an interim status', { status: 199 }],
    ['a status beyond HTTP', { status: 600 }],
    ['a name with a space', { status: 200, headers: { 'a b': '1' } }],
    ['an empty name', { status: 200, headers: { '': '1' } }],
    ['a value with a line break', { status: 200, headers: { a: '1\r\nb: 2' } }],
    ['a value beyond Latin-1', { status: 200, headers: { a: '株' } }],
    ['a value that is no text', { status: 200, headers: { a: {} } }],
    ['a value that is nothing', { status: 200, headers: { a: undefined } }],
    ['a value in a list that is no text', { status: 200, headers: { a: ['1', null] } }],
    ['a length', { status: 200, headers: { 'Content-Length': '1' } }],
    ['a line of one connection', { status: 200, headers: { 'transfer-encoding': 'chunked' } }],
    ['a date', { status: 200, headers: { Date: 'now' } }],
    ['a body that JSON cannot say', { status: 200, body: 1n }],
    ['a body that JSON leaves out', { status: 200, body: () => {} }],
  ])('is refused with %s', (_, words) => {
    const error = expect.objectContaining({ code: 'response_invalid' });
    expect(() => done(words as never)).toThrow(error);
    if (words !== undefined) expect(() => unknown(words as never)).toThrow(error);
  });

  test('never shows what was in it', () => {
    const error = caught(() => done({ status: 200, headers: { Cookie: 'secret\n' } }));
    expect(error.message).not.toContain('secret');
    expect(error.message).toContain('header values that HTTP can carry');
  });

  test('of a body that refers to itself keeps the cause', () => {
    const body: { self?: unknown } = {};
    body.self = body;
    expect(caught(() => done({ status: 200, body })).cause).toBeInstanceOf(TypeError);
  });

  test('is one of three', () => {
    expect(neverStarted()).toEqual({ kind: 'never-started' });
    expect(unknown()).toMatchObject({
      kind: 'unknown',
      response: { status: 409, headers: [JSON_LINE], body: Buffer.from(UNKNOWN) },
    });
    expect(unknown({ status: 410 })).toMatchObject({ response: { status: 410 } });
  });
});

const UNKNOWN = '{"error":"outcome_unknown"}';

function caught(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('Nothing was thrown.');
}
