import { pipeline, Readable } from 'node:stream';
import type { Request, Response } from 'express';
import { HeldApp, type HeldAppOptions, until } from './held-app.ts';

// Build machines stand still for seconds.
jest.setTimeout(60_000);

const setup = (options: HeldAppOptions) => new HeldApp(options).listen();

const SHORT_GRACE = { graceMs: 20 };

async function* slowly(parts: string[]): AsyncGenerator<string> {
  for (const part of parts) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    yield part;
  }
}

const bodyOf = (app: HeldApp, at = 0): string | undefined => {
  const saved = app.saved[at];
  return saved?.kept ? Buffer.from(saved.body).toString() : undefined;
};

describe('held answers on one connection', () => {
  test('leave one after another, as they were asked for', async () => {
    await using app = await setup({ handler: (req, res) => res.send(`answer ${req.path}`) });
    const wire = app.ask({ path: '/1' }, { path: '/2' }, { path: '/3' });
    await app.saves(3);
    expect(wire.received.length).toBe(0);
    for (let i = 0; i < 3; i += 1) app.settle();
    const bodies = (await wire.answers(3)).map(({ body }) => body.toString());
    expect(bodies).toEqual(['answer /1', 'answer /2', 'answer /3']);
  });

  test('leave in order when the second is saved first', async () => {
    const ended: string[] = [];
    await using app = await setup({
      settings: {},
      handler: (req, res) => {
        res.on('prefinish', () => ended.push(`prefinish ${req.path}`));
        res.on('finish', () => ended.push(`finish ${req.path}`));
        const isFirst = req.path === '/1';
        setTimeout(() => res.send(`answer ${req.path}`), isFirst ? 40 : 0);
      },
    });
    const wire = app.ask({ path: '/1' }, { path: '/2' });
    await app.saves(1);
    expect(bodyOf(app)).toBe('answer /2');
    app.settle();
    await app.saves(2);
    expect(wire.received.length).toBe(0);
    app.settle();
    const bodies = (await wire.answers(2)).map(({ body }) => body.toString());
    expect(bodies).toEqual(['answer /1', 'answer /2']);
    await until(() => ended.filter((each) => each.startsWith('finish')).length === 2);
    expect(ended.filter((each) => each.startsWith('prefinish')).sort()).toEqual([
      'prefinish /1',
      'prefinish /2',
    ]);
  });

  test('keep the connection alive for the next one', async () => {
    await using app = await setup({ handler: (req, res) => res.send(req.path) });
    const wire = app.ask({ path: '/1' });
    await app.saves();
    app.settle();
    await wire.answers(1);
    wire.send('POST /2 HTTP/1.1\r\nHost: test\r\n\r\n');
    await app.saves(2);
    app.settle();
    expect((await wire.answers(2)).map(({ body }) => body.toString())).toEqual(['/1', '/2']);
  });

  test('all leave before a late throw of the first closes the connection', async () => {
    await using app = await setup({
      handler: (req, res) => {
        res.send(`answer ${req.path}`);
        if (req.path === '/1') throw new Error('late');
      },
    });
    const wire = app.ask({ path: '/1' }, { path: '/2' });
    await app.saves(2);
    app.settle();
    app.settle();
    const bodies = (await wire.answers(3)).map(({ body }) => body.toString());
    expect(bodies).toEqual(['answer /1', 'answer /2']);
    expect(wire.isClosed).toBe(true);
  });

  test('leave although the connection is given up between their turn and their save', async () => {
    let giveUp: () => unknown = () => undefined;
    await using app = await setup({
      handler: (req, res) => {
        if (req.path === '/1') setTimeout(() => res.send('first'), 30);
        else res.send('second');
        giveUp = () => req.socket.destroy();
      },
    });
    const wire = app.ask({ path: '/1' }, { path: '/2' });
    await app.saves(2);
    const [saveOfSecond, ...others] = app.waiting.splice(0);
    for (const settle of others) settle('send');
    await wire.answers(1);
    await until(() => app.res?.socket !== null);
    giveUp();
    saveOfSecond?.('send');
    const bodies = (await wire.answers(2)).map(({ body }) => body.toString());
    expect(bodies).toEqual(['first', 'second']);
    await until(() => wire.isClosed);
  });

  test('do not outlive a destruction with an error', async () => {
    await using app = await setup({
      handler: (req, res) => {
        res.send('never arrives');
        req.socket.on('error', () => undefined).destroy(new Error('broken'));
      },
    });
    const wire = app.ask();
    await app.saves();
    await until(() => wire.isClosed);
    app.settle();
    await until(() => app.gone === 1);
    expect(wire.received.length).toBe(0);
    expect(bodyOf(app)).toBe('never arrives');
  });
});

describe('a client that leaves', () => {
  const left = async (options: HeldAppOptions) => {
    const app = await setup(options);
    const wire = app.ask();
    await until(() => app.res !== undefined);
    wire.close();
    return app;
  };

  test('before the answer: the answer is saved whole', async () => {
    const seen: unknown[] = [];
    let answer: () => unknown = () => undefined;
    await using app = await left({
      settings: { onGone: () => answer() },
      handler: (_req, res) => {
        res.on('close', () => seen.push('close', res.destroyed));
        answer = () => setImmediate(() => res.json({ made: 1 }));
      },
    });
    await app.saves();
    expect([bodyOf(app), seen]).toEqual(['{"made":1}', []]);
    app.settle();
    await until(() => seen.length > 0);
    expect(seen).toEqual(['close', true]);
  });

  test('while the answer is saved: the saving is not disturbed', async () => {
    const seen: unknown[] = [];
    await using app = await setup({
      handler: (_req, res) => {
        for (const name of ['finish', 'close']) res.on(name, () => seen.push(name));
        res.json({ made: 1 });
      },
    });
    const wire = app.ask();
    await app.saves();
    wire.close();
    await until(() => app.gone === 1);
    expect(seen).toEqual([]);
    app.settle();
    await until(() => seen.length > 0);
    expect(seen).toEqual(['close']);
  });

  test('during a slow pipe: the pipe goes on, and all of it is saved', async () => {
    await using app = await left({
      handler: (_req, res) => Readable.from(slowly(['one ', 'two ', 'three'])).pipe(res),
    });
    await app.saves();
    expect([app.gone, bodyOf(app)]).toEqual([1, 'one two three']);
    app.settle();
  });

  test('during a slow pipeline: all of it is saved', async () => {
    await using app = await left({
      handler: (_req, res) => {
        pipeline(Readable.from(slowly(['one ', 'two ', 'three'])), res, () => undefined);
      },
    });
    await app.saves();
    expect([app.gone, bodyOf(app)]).toEqual([1, 'one two three']);
    app.settle();
  });

  test('a handler that never answers is told after a while, so that it can clean up', async () => {
    const seen: unknown[] = [];
    await using app = await left({
      settings: SHORT_GRACE,
      handler: (_req, res) => {
        res.on('close', () => seen.push('close', res.destroyed, res.closed));
      },
    });
    await until(() => seen.length > 0);
    expect([...seen, app.gone]).toEqual(['close', true, true, 1]);
    expect(app.saved).toEqual([]);
  });

  test('a handler that answers after that is saved all the same, and told once', async () => {
    const seen: unknown[] = [];
    await using app = await left({
      settings: SHORT_GRACE,
      handler: (_req, res) => {
        res.on('close', () => {
          seen.push('close');
          res.write('after ');
          setTimeout(() => res.end('all'), 5);
        });
      },
    });
    await app.saves();
    app.settle();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([bodyOf(app), seen]).toEqual(['after all', ['close']]);
  });

  test('a pipelined answer whose turn never comes is saved', async () => {
    const handler = (req: Request, res: Response): void => {
      if (req.path === '/1') return;
      answer = () => res.destroy() && res.send(`answer ${req.path}`);
    };
    let answer: () => unknown = () => undefined;
    await using app = await setup({ handler });
    const wire = app.ask({ path: '/1' }, { path: '/2' });
    await until(() => app.res?.req.url === '/2');
    wire.close();
    await until(() => app.res?.req.socket.destroyed === true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    answer();
    await app.saves();
    expect(bodyOf(app)).toBe('answer /2');
    app.settle();
  });
});

describe('a handler that destroys', () => {
  test('before it has answered: nothing is saved, and it is reported', async () => {
    await using app = await setup({
      handler: (_req, res) => {
        res.write('a part');
        res.destroy();
      },
    });
    const wire = app.ask();
    await until(() => wire.isClosed);
    expect([wire.received.length, app.saved, app.reports]).toEqual([0, [], ['destroyed']]);
  });

  test('after its answer: the answer leaves first', async () => {
    await using app = await setup({
      handler: (_req, res) => {
        res.end('ok');
        res.destroy();
      },
    });
    const wire = app.ask();
    await app.saves();
    app.settle();
    expect((await wire.answer()).body.toString()).toBe('ok');
    await until(() => wire.isClosed);
  });

  test('a pipelined answer after its end: it still leaves', async () => {
    await using app = await setup({
      handler: (req, res) => {
        if (req.path === '/1') {
          setTimeout(() => res.send('first'), 40);
          return;
        }
        res.end('second');
        res.destroy();
      },
    });
    const wire = app.ask({ path: '/1' }, { path: '/2' });
    await app.saves(1);
    app.settle();
    await app.saves(2);
    app.settle();
    expect((await wire.answer()).body.toString()).toBe('first');
  });
});
