import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import type { RequestHandler, Response } from 'express';
import { STRICT } from '../../src/core/profiles.ts';
import { answer } from '../../src/express/replies.ts';
import { thrownBy } from './cases/observed.ts';
import { HeldApp, type HeldAppOptions, until } from './held-app.ts';

const compression = require('compression') as () => RequestHandler;

// Build machines stand still for seconds.
jest.setTimeout(60_000);

const setup = (options: HeldAppOptions) => new HeldApp(options).listen();

const refuse = (res: ServerResponse): void => answer(res, STRICT.outcomeNotSaved);

const PART = Buffer.alloc(64 * 1024, 'part of a large body. ');

function* parts(count: number): Generator<Buffer> {
  for (let part = 0; part < count; part += 1) yield PART;
}

describe('an answer too large to keep', () => {
  test('is saved as not kept before its first byte, and streamed whole', async () => {
    await using app = await setup({
      handler: (_req, res) => Readable.from(parts(48)).pipe(res.status(201)),
    });
    const wire = app.ask();
    await app.saves();
    expect(app.saved).toEqual([{ kept: false, status: 201 }]);
    expect(app.res?.socket?.bytesWritten).toBe(0);
    app.settle();
    expect((await wire.answer()).body.equals(Buffer.concat([...parts(48)]))).toBe(true);
  });

  test('makes its source wait from then on, so that memory stays bounded', async () => {
    let produced = 0;
    const source = function* (): Generator<Buffer> {
      for (const part of parts(256)) {
        produced += 1;
        yield part;
      }
    };
    await using app = await setup({ handler: (_req, res) => Readable.from(source()).pipe(res) });
    const wire = app.ask();
    await app.saves();
    await new Promise((resolve) => setTimeout(resolve, 30));
    const whileSaving = produced;
    let mostWaiting = 0;
    const watch = setInterval(() => {
      mostWaiting = Math.max(mostWaiting, app.res?.writableLength ?? 0);
    }, 1);
    app.settle();
    expect((await wire.answer()).body.length).toBe(256 * PART.length);
    clearInterval(watch);
    expect(whileSaving).toBeLessThan(40);
    expect(mostWaiting).toBeLessThan(4 * 1024 * 1024);
  });

  test('answers false to each write meanwhile, calls back later, and drains once', async () => {
    const seen: unknown[] = [];
    await using app = await setup({
      settings: { maxBytes: 10 },
      handler: (_req, res) => {
        res.on('drain', () => {
          seen.push('drain');
          res.end('end');
        });
        seen.push(res.write('12345', () => seen.push('first')));
        seen.push(res.write('67890ab', () => seen.push('second')));
        seen.push(res.write('c', () => seen.push('third')));
      },
    });
    const wire = app.ask();
    await until(() => seen.length >= 5);
    expect(seen).toEqual([true, false, false, 'first', 'second']);
    app.settle();
    expect((await wire.answer()).body.toString()).toBe('1234567890abcend');
    expect(seen.slice(5).sort()).toEqual(['drain', 'third']);
  });

  test('of no outcome is streamed unsaved', async () => {
    await using app = await setup({
      handler: (_req, res) => Readable.from(parts(48)).pipe(res.status(500)),
    });
    expect((await app.ask().answer()).body.length).toBe(48 * PART.length);
    expect(app.saved).toEqual([]);
  });

  test('that ends while "not kept" is being saved is sent whole', async () => {
    const seen: unknown[] = [];
    await using app = await setup({
      settings: { maxBytes: 4 },
      handler: (_req, res) => {
        res.write('12345');
        res.end('678', () => seen.push('ended'));
        seen.push(res.writableEnded, res.writableFinished);
      },
    });
    const wire = app.ask();
    await app.saves();
    expect(wire.received.length).toBe(0);
    app.settle();
    expect((await wire.answer()).body.toString()).toBe('12345678');
    await until(() => seen.length === 3);
    expect(seen).toEqual([true, false, 'ended']);
  });

  test('is cut off when the client leaves, as without the hold', async () => {
    const seen: unknown[] = [];
    await using app = await setup({
      handler: (_req, res) => {
        const source = Readable.from(parts(4000));
        pipeline(source, res, (error) => seen.push(error?.code, source.destroyed));
      },
    });
    const wire = app.ask();
    await app.saves();
    app.settle();
    await until(() => wire.received.length > PART.length);
    wire.close();
    await until(() => seen.length > 0);
    expect(seen).toEqual(['ERR_STREAM_PREMATURE_CLOSE', true]);
  });

  test('whose client has left before is written nowhere, and its source is told', async () => {
    const seen: unknown[] = [];
    await using app = await setup({
      handler: (_req, res) => {
        const source = Readable.from(parts(4000));
        pipeline(source, res, (error) => seen.push(error?.code, source.destroyed));
      },
    });
    const wire = app.ask();
    await app.saves();
    wire.close();
    await until(() => app.gone === 1);
    expect(seen).toEqual([]);
    app.settle();
    await until(() => seen.length > 0);
    expect(seen).toEqual(['ERR_STREAM_PREMATURE_CLOSE', true]);
  });

  test('whose handler throws meanwhile is cut off after what was written', async () => {
    await using app = await setup({
      settings: { maxBytes: 4 },
      handler: (_req, res) => {
        res.write('12345');
        throw new Error('in the middle');
      },
    });
    const wire = app.ask();
    await app.saves();
    app.settle();
    const { body, isWhole } = await wire.answer();
    expect([body.toString(), isWhole, wire.isClosed]).toEqual(['12345', false, true]);
  });

  test('is abandoned when its handler destroys it meanwhile', async () => {
    await using app = await setup({
      settings: { maxBytes: 4 },
      handler: (_req, res) => {
        res.write('12345');
        setImmediate(() => res.destroy());
      },
    });
    const wire = app.ask();
    await app.saves();
    await until(() => wire.isClosed);
    app.settle();
    expect(wire.received.length).toBe(0);
    expect(app.reports).toEqual(['destroyed']);
  });
});

describe('a refusal while the handler still writes', () => {
  const refused = async (handler: (res: Response, seen: unknown[]) => unknown) => {
    const seen: unknown[] = [];
    const app = await setup({
      settings: { maxBytes: 4 },
      handler: (_req, res) => handler(res, seen),
    });
    return { app, seen };
  };

  test('lets a pipe end, and sends our answer alone', async () => {
    const { app, seen } = await refused((res, log) => {
      const source = Readable.from(parts(100));
      source.on('end', () => log.push('source ended')).pipe(res);
    });
    await using _ = app;
    const wire = app.ask();
    await app.saves();
    app.settle(refuse);
    expect((await wire.answer()).body.toString()).toBe('{"error":"outcome_not_saved"}');
    await until(() => seen.length > 0);
    expect(seen).toEqual(['source ended']);
    expect(wire.received.includes('part of')).toBe(false);
  });

  test('lets a loop of writes end: callbacks run, true is answered, drain comes', async () => {
    const { app, seen } = await refused(async (res, log) => {
      log.push(res.write('12345', () => log.push('written')));
      log.push(res.write('waits', () => log.push('waited')));
      await new Promise<void>((resolve) => res.once('drain', () => resolve()));
      log.push(res.write('more', () => log.push('swallowed')));
      await new Promise<void>((resolve) => res.end('last', () => resolve()));
      log.push('ended', res.writableEnded, res.headersSent);
    });
    await using _ = app;
    const wire = app.ask();
    await app.saves();
    await until(() => seen.length === 3);
    app.settle(refuse);
    await wire.answer();
    await until(() => seen.includes('ended'));
    expect(seen).toEqual([
      ...[false, false, 'written'],
      ...['waited', true, 'swallowed', 'ended', true, true],
    ]);
  });

  test('lets a late head fail as after any answer', async () => {
    const { app, seen } = await refused((res, log) => {
      res.write('12345');
      res.on('drain', () => {
        log.push(thrownBy(() => res.writeHead(201)));
        res.end();
      });
    });
    await using _ = app;
    const wire = app.ask();
    await app.saves();
    app.settle(refuse);
    await wire.answer();
    await until(() => seen.length > 0);
    expect(seen).toEqual(['ERR_HTTP_HEADERS_SENT']);
  });

  test('is not compressed by an inner layer, which ends by itself', async () => {
    const seen: unknown[] = [];
    await using app = await setup({
      settings: { maxBytes: 100 },
      inner: [compression()],
      handler: (_req, res) => {
        const source = Readable.from(parts(20));
        source.on('end', () => seen.push('source ended')).pipe(res.type('text'));
      },
    });
    const wire = app.ask({ headers: ['Accept-Encoding: gzip'] });
    await app.saves();
    app.settle(refuse);
    const { body, lines } = await wire.answer();
    expect(body.toString()).toBe('{"error":"outcome_not_saved"}');
    expect(lines.filter((line) => /encoding/i.test(line))).toEqual([]);
    await until(() => seen.length > 0);
    expect(seen).toEqual(['source ended']);
  });
});
