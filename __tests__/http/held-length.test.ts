import type { Response } from 'express';
import express from 'express';
import { idempotent, MemoryStore } from '../../src/index.ts';
import { thrownBy } from './cases/observed.ts';
import { HeldApp, type HeldAppOptions } from './held-app.ts';
import { serve } from './served.ts';
import { bytesOf, linesNamed, Wire } from './wire.ts';

// Build machines stand still for seconds.
jest.setTimeout(60_000);

const setup = (options: HeldAppOptions) => new HeldApp(options).listen();

const LENGTHS: [what: string, handler: (res: Response) => void][] = [
  ['too large', (res) => res.set('Content-Length', '99').end('three')],
  ['too small', (res) => res.set('Content-Length', '2').end('three')],
  ['too large, in parts', (res) => res.set('Content-Length', '99').write('thr') && res.end('ee')],
  ['an argument of writeHead', (res) => res.writeHead(200, { 'content-length': 99 }).end('three')],
];

describe.each(LENGTHS)('a Content-Length that is %s', (_what, handler) => {
  test('is corrected before it is saved, and reported', async () => {
    await using app = await setup({ handler: (_req, res) => handler(res) });
    const wire = app.ask();
    await app.saves();
    app.settle();
    const answer = await wire.answer();
    expect(linesNamed(answer, 'Content-Length').map((line) => line.slice(16))).toEqual(['5']);
    expect([answer.body.toString(), app.reports]).toEqual(['three', ['length-mended']]);
  });

  test('does not hang a retry, nor shift the next answer of its connection', async () => {
    const app = express().disable('x-powered-by');
    app.use(idempotent(new MemoryStore()), (_req, res) => handler(res));
    await using served = await serve(app);
    const asked = bytesOf({}, ['Idempotency-Key: k']);
    const wire = new Wire(served.port).send(asked);
    await wire.answer();
    wire.send(Buffer.concat([asked, asked]));
    const answers = await wire.answers(3);
    expect(answers.map(({ body }) => body.toString())).toEqual(['three', 'three', 'three']);
    wire.close();
  });
});

test.each(['end', 'write'] as const)(
  'a length that Node guesses of base64 is right: %s',
  async (by) => {
    await using app = await setup({
      settings: { save: () => 'send' },
      handler: (_req, res) => {
        res.on('error', () => undefined);
        res[by](by === 'end' ? 'dGhy ZWU=\n\n\n' : 'dGhy\n\n\n', 'base64');
        res.end('ZWU=', 'base64');
      },
    });
    const answer = await app.ask().answer();
    expect([answer.body.toString(), answer.framing]).toEqual(['three', 'length']);
  },
);

describe('a Content-Length that Node is asked to check', () => {
  test('and that is too short for end, leaves the answer open: nothing is saved', async () => {
    const thrown: string[] = [];
    await using app = await setup({
      handler: (_req, res) => {
        res.strictContentLength = true;
        res.set('Content-Length', '9').flushHeaders();
        res.write('12345');
        thrown.push(
          thrownBy(() => res.end()),
          thrownBy(() => res.end('6')),
        );
        thrown.push(String(res.writableEnded));
        res.destroy();
      },
    });
    const wire = app.ask();
    await wire.answers();
    expect([thrown, app.saved, wire.received.length]).toEqual([
      ['ERR_HTTP_CONTENT_LENGTH_MISMATCH', 'ERR_HTTP_CONTENT_LENGTH_MISMATCH', 'false'],
      [],
      0,
    ]);
  });

  test('is right for HEAD and for 204, whatever the handler says', async () => {
    await using app = await setup({
      settings: { save: () => 'send' },
      handler: (req, res) => {
        if (req.method === 'HEAD') res.set('Content-Length', '1234').end();
        else res.status(204).set('Content-Length', '0').end();
      },
    });
    const head = await app.ask({ method: 'HEAD' }).answer();
    expect(linesNamed(head, 'Content-Length')).toEqual(['Content-Length: 1234']);
    const empty = await app.ask().answer();
    expect(linesNamed(empty, 'Content-Length')).toEqual(['Content-Length: 0']);
    expect(app.reports).toEqual([]);
  });
});
