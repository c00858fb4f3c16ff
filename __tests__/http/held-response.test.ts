import type { ServerResponse } from 'node:http';
import type { Response } from 'express';
import { STRICT } from '../../src/core/profiles.ts';
import { answer } from '../../src/express/replies.ts';
import { thrownBy } from './cases/observed.ts';
import { HeldApp, type HeldAppOptions, until } from './held-app.ts';
import { linesNamed } from './wire.ts';

// Build machines stand still for seconds.
jest.setTimeout(60_000);

const setup = (options: HeldAppOptions) => new HeldApp(options).listen();

const refuse = (res: ServerResponse): void => answer(res, STRICT.outcomeNotSaved);

const made = (_req: unknown, res: Response): void => {
  res.status(201).set('X-Mine', '1').json({ made: true });
};

describe('a held answer', () => {
  test('leaves no byte before it is saved, and all of it afterwards', async () => {
    await using app = await setup({ handler: made });
    const wire = app.ask();
    await app.saves();
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(app.res?.socket?.bytesWritten).toBe(0);
    expect(wire.received.length).toBe(0);
    app.settle();
    expect((await wire.answer()).body.toString()).toBe('{"made":true}');
  });

  test('is saved as status, header lines of the handler, and bytes', async () => {
    await using app = await setup({ handler: made });
    app.ask();
    await app.saves();
    expect(app.saved).toEqual([
      {
        kept: true,
        status: 201,
        headers: [
          ['X-Mine', '1'],
          ['Content-Type', 'application/json; charset=utf-8'],
          ['Content-Length', '13'],
          ['ETag', expect.stringMatching(/^W\//)],
        ],
        removedNames: [],
        body: Buffer.from('{"made":true}'),
      },
    ]);
    app.settle();
  });

  test('is saved with its reason, with what it removed and with what it added', async () => {
    await using app = await setup({
      outer: [
        (_req, res, next) => {
          res.setHeader('Set-Cookie', 'outer=1');
          res.setHeader('Date', 'now').setHeader('X-Outer', '1');
          next();
        },
      ],
      handler: (_req, res) => {
        res.removeHeader('X-Powered-By');
        res.removeHeader('Date');
        res.cookie('mine', '2');
        res.setHeader('Connection', 'close');
        res.writeHead(299, 'Made', { 'X-Number': 7 }).end();
      },
    });
    app.ask();
    await app.saves();
    expect(app.saved).toEqual([
      {
        kept: true,
        status: 299,
        reason: 'Made',
        headers: [
          ['Set-Cookie', 'mine=2; Path=/', 'added'],
          ['X-Number', '7'],
        ],
        removedNames: ['x-powered-by'],
        body: Buffer.alloc(0),
      },
    ]);
    app.settle();
  });

  test('has nothing of a head that Node has refused', async () => {
    await using app = await setup({
      handler: (_req, res) => {
        res.setHeader('Trailer', 'X-Sum');
        const refused = thrownBy(() => res.writeHead(204, { Connection: 'close' }));
        for (const name of ['Trailer', 'Connection']) res.removeHeader(name);
        res.writeHead(200).end(refused);
      },
    });
    const wire = app.ask();
    await app.saves();
    app.settle();
    const answer = await wire.answer();
    expect(answer.body.toString()).toBe('ERR_HTTP_TRAILER_INVALID');
  });

  test('leaves at once when saving it takes no promise', async () => {
    const finished: boolean[] = [];
    await using app = await setup({
      settings: { save: () => 'send' },
      handler: (_req, res) => {
        res.end('ok');
        finished.push((res.socket?.bytesWritten ?? 0) > 0, res.writableEnded);
      },
    });
    expect((await app.ask().answer()).body.toString()).toBe('ok');
    expect(finished).toEqual([true, true]);
  });

  test('of no outcome leaves at once, unsaved', async () => {
    await using app = await setup({ handler: (_req, res) => res.status(503).send('later') });
    const { statusLine, body } = await app.ask().answer();
    expect([statusLine, body.toString()]).toEqual(['HTTP/1.1 503 Service Unavailable', 'later']);
    expect(app.saved).toEqual([]);
  });

  test('is asked once whether it is an outcome', async () => {
    const asked: number[] = [];
    const isOutcome = (status: number): boolean => asked.push(status) > 0;
    const settings = { isOutcome, maxBytes: 1 };
    await using app = await setup({ settings, handler: made });
    app.ask();
    await app.saves();
    expect(asked).toEqual([201]);
    app.settle();
  });

  test('is of a response that may be held once only', async () => {
    const thrown: unknown[] = [];
    await using app = await setup({
      inner: [
        (_req, res, next) => {
          const settings = { maxBytes: 1, isOutcome: () => true, save: () => 'send' as const };
          const { holdResponse } = require('../../src/express/held-response.ts');
          try {
            holdResponse(res, settings);
          } catch (error) {
            thrown.push((error as { code?: string }).code);
          }
          next();
        },
      ],
      handler: made,
    });
    const wire = app.ask();
    await app.saves();
    app.settle();
    expect((await wire.answer()).statusLine).toBe('HTTP/1.1 201 Created');
    expect(thrown).toEqual(['nested']);
  });

  test('passes a second copy of this package, which holds it too', async () => {
    let copy: typeof import('../../src/express/held-response.ts') | undefined;
    jest.isolateModules(() => {
      copy = require('../../src/express/held-response.ts');
    });
    const inside: unknown[] = [];
    await using app = await setup({
      inner: [
        (_req, res, next) => {
          const save = (response: unknown): Promise<'send'> => {
            inside.push(response);
            return Promise.resolve('send');
          };
          copy?.holdResponse(res, { maxBytes: 1000, isOutcome: () => true, save });
          next();
        },
      ],
      handler: made,
    });
    const wire = app.ask();
    await app.saves();
    expect(inside).toEqual(app.saved);
    app.settle();
    expect((await wire.answer()).body.toString()).toBe('{"made":true}');
  });
});

describe('a refused saving', () => {
  test('puts our answer in place of the held one, with nothing of the handler in it', async () => {
    await using app = await setup({
      outer: [
        (_req, res, next) => {
          res.setHeader('X-Kept', ['1', '2']);
          res.setHeader('X-Removed', 'outer');
          res.setHeader('X-Replaced', 'outer');
          next();
        },
      ],
      handler: (_req, res) => {
        res.removeHeader('X-Removed');
        res.removeHeader('Content-Length');
        res.set({ 'X-Replaced': 'mine', 'X-Mine': 'mine', Connection: 'close' });
        res.append('X-Kept', '3').writeHead(201, 'Made');
        res.end('made');
      },
    });
    const wire = app.ask();
    await app.saves();
    app.settle(refuse);
    const answered = await wire.answer();
    const lines = answered.lines.filter((line) => !/^(Date|Connection|Keep-Alive)/.test(line));
    expect([answered.statusLine, answered.body.toString(), ...lines]).toEqual([
      'HTTP/1.1 503 Service Unavailable',
      '{"error":"outcome_not_saved"}',
      'X-Powered-By: Express',
      'X-Kept: 1',
      'X-Kept: 2',
      'X-Removed: outer',
      'X-Replaced: outer',
      'Content-Type: application/json',
      'Retry-After: 2',
      'Content-Length: 29',
    ]);
    expect(linesNamed(answered, 'Connection')).toEqual(['Connection: keep-alive']);
  });

  test('lets finish, close and the callback of end come once', async () => {
    const seen: string[] = [];
    await using app = await setup({
      handler: (_req, res) => {
        for (const name of ['finish', 'close']) res.on(name, () => seen.push(name));
        res.end('made', () => seen.push('callback'));
      },
    });
    const wire = app.ask();
    await app.saves();
    app.settle(refuse);
    await wire.answer();
    await until(() => seen.length === 3);
    expect(seen).toEqual(['finish', 'callback', 'close']);
  });

  test('that comes at once is answered within the handler’s own call', async () => {
    const states: unknown[] = [];
    await using app = await setup({
      settings: { save: () => refuse },
      handler: (_req, res) => {
        res.status(201).json({ made: true });
        states.push(res.writableEnded, res.headersSent);
      },
    });
    const { statusLine } = await app.ask().answer();
    expect(statusLine).toBe('HTTP/1.1 503 Service Unavailable');
    expect(states).toEqual([true, true]);
  });
});
