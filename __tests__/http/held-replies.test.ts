import express, { type Response } from 'express';
import { STRICT } from '../../src/core/profiles.ts';
import { answer, replay } from '../../src/express/replies.ts';
import type { KeptResponse, SavedResponse } from '../../src/index.ts';
import { serve } from './served.ts';
import { bytesOf, exceptDate, Wire } from './wire.ts';

async function setup(act: (res: Response) => void) {
  const app = express().set('env', 'test');
  app.use((_req, res) => {
    res.setHeader('X-Outer', 'outer');
    res.setHeader('Set-Cookie', 'outer=1');
    act(res);
  });
  const served = await serve(app);
  return {
    async asked() {
      const wire = new Wire(served.port).send(bytesOf({}));
      const { statusLine, lines, body } = exceptDate(await wire.answer());
      wire.close();
      const own = lines.filter((line) => !/^(Connection|Keep-Alive|X-Powered-By):/.test(line));
      return [statusLine, ...own, body.toString()];
    },
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  };
}

const kept = (change: Partial<KeptResponse> = {}): KeptResponse => ({
  kept: true,
  status: 201,
  headers: [],
  removedNames: [],
  body: Buffer.from('body'),
  ...change,
});

describe('an answer of ours', () => {
  test('is exactly its bytes, as JSON without a charset, without an ETag', async () => {
    await using app = await setup((res) => answer(res, STRICT.pending));
    expect(await app.asked()).toEqual([
      'HTTP/1.1 409 Conflict',
      'X-Outer: outer',
      'Set-Cookie: outer=1',
      'Content-Type: application/json',
      'Content-Length: 27',
      '{"error":"request_pending"}',
    ]);
  });

  test('says when to come again, where waiting helps', async () => {
    await using app = await setup((res) => answer(res, STRICT.storeUnavailable));
    expect(await app.asked()).toContain('Retry-After: 2');
  });

  test('is not given when another answer has begun', async () => {
    await using app = await setup((res) => {
      res.write('begun');
      answer(res, STRICT.pending);
      res.end();
    });
    expect((await app.asked()).at(-1)).toBe('begun');
  });
});

describe('a replay', () => {
  test('removes what outer middleware has under each name, then appends line by line', async () => {
    const headers = [
      ['ETag', '"a"'],
      ['X-Outer', 'mine'],
      ['ETag', '"b"'],
      ['Set-Cookie', 'mine=2', 'added'],
      ['Content-Type', 'text/plain'],
    ] as const;
    await using app = await setup((res) => replay(res, kept({ reason: 'Made', headers }), 'A'));
    expect(await app.asked()).toEqual([
      'HTTP/1.1 201 Made',
      'Set-Cookie: outer=1',
      'Set-Cookie: mine=2',
      'ETag: "a"',
      'ETag: "b"',
      'X-Outer: mine',
      'Content-Type: text/plain',
      'Content-Length: 4',
      'body',
    ]);
  });

  test('removes what the handler had removed', async () => {
    const saved = kept({ removedNames: ['x-outer', 'set-cookie', 'x-none'] });
    await using app = await setup((res) => replay(res, saved, 'A'));
    expect(await app.asked()).toEqual(['HTTP/1.1 201 Created', 'Content-Length: 4', 'body']);
  });

  test.each<[string, Partial<KeptResponse>]>([
    ['a status below 200, which no answer ends with', { status: 150 }],
    ['a status that is no number', { status: '200' as unknown as number }],
    ['a status with a fraction', { status: 200.5 }],
    ['a reason with a line break', { reason: 'a\r\nb' }],
    ['a reason that is no text', { reason: {} as unknown as string }],
    ['a name with a space', { headers: [['X Y', '1']] }],
    ['a value with a line break', { headers: [['X-Y', 'a\nb']] }],
    ['a value that is none', { headers: [['X-Y', undefined as unknown as string]] }],
    ['a removed name with a space', { removedNames: ['X Y'] }],
    ['a length that is not that of the body', { headers: [['Content-Length', '9']] }],
    ['a length without a body', { headers: [['Content-Length', '9']], body: Buffer.alloc(0) }],
    ['a length that is not plain digits', { headers: [['Content-Length', '0x4']] }],
    ['two lengths', { headers: Array(2).fill(['Content-Length', '4']) }],
    ['a Transfer-Encoding', { headers: [['Transfer-Encoding', 'chunked']] }],
    ['a Trailer', { headers: [['Trailer', 'X-Sum']] }],
  ])('of %s is refused, and nothing of it is set', async (_what, change) => {
    const thrown: { code?: string; message?: string }[] = [];
    await using app = await setup((res) => {
      try {
        replay(res, kept({ headers: [['X-First', '1']], ...change }), 'TheStore');
      } catch (error) {
        thrown.push(error as object);
      }
      res.end('unharmed');
    });
    expect(await app.asked()).toEqual([
      'HTTP/1.1 200 OK',
      'X-Outer: outer',
      'Set-Cookie: outer=1',
      'Content-Length: 8',
      'unharmed',
    ]);
    expect(thrown.map(({ code }) => code)).toEqual(['record_corrupt']);
    expect(thrown[0]?.message).toContain('TheStore');
    expect(thrown[0]?.message).not.toMatch(/a\r?\nb|X Y/);
  });

  test('has a framing of its own, whatever an outer layer has set', async () => {
    await using app = await setup((res) => {
      res.setHeader('Transfer-Encoding', 'chunked');
      replay(res, kept({ removedNames: ['x-outer', 'set-cookie'] }), 'A');
    });
    expect(await app.asked()).toEqual(['HTTP/1.1 201 Created', 'Content-Length: 4', 'body']);
  });

  test('changes nothing of the saved response', async () => {
    const saved = kept({
      headers: [
        ['X-List', '1'],
        ['X-List', '2'],
      ],
    });
    const before: SavedResponse = structuredClone(saved);
    await using app = await setup((res) => replay(res, saved, 'A'));
    await app.asked();
    expect({ ...saved, body: Buffer.from(saved.body).toString() }).toEqual({
      ...before,
      body: 'body',
    });
  });
});
