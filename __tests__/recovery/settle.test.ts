import type { RequestHandler } from 'express';
import {
  done,
  idempotent,
  keyed,
  MemoryStore,
  neverStarted,
  type Settled,
} from '../../src/index.ts';
import { FaultyStore } from '../../src/testing/index.ts';
import { EXPRESS_VERSIONS } from '../http/express-versions.ts';
import { gate, until } from '../http/gate.ts';
import { valuesOf, withoutDate } from '../http/served.ts';
import { endAll, LEASE_MS, PENDING, PLACES, recoveryApp, said, served } from './recovery-app.ts';

const MADE = done({ status: 201, headers: { ETag: ['"a"', '"b"'] }, body: { made: true } });
const BODY = '{"made":true}';

/** An outer layer that gives up after a moment, as a time-out does. */
const timeOut: RequestHandler = (_req, res, next) => {
  const timer = setTimeout(() => res.status(503).send('too slow'), 20);
  res.once('close', () => clearTimeout(timer));
  next();
};

describe.each(PLACES)('an outcome that a handler settles, in $place', (place) => {
  afterEach(endAll);

  test('is sent in place of an answer, and replayed', async () => {
    const words: Settled[] = [];
    const { ask, runs } = await recoveryApp(place.framework, place.makeStore, {}, [
      async (req, res) => {
        res.setHeader('X-Dropped', '1');
        words.push((await req.idempotency?.settle(MADE)) as Settled);
      },
    ]);
    const first = await ask();
    expect(said(first)).toEqual([201, BODY]);
    expect(valuesOf(first, 'ETag')).toEqual(['"a"', '"b"']);
    expect(valuesOf(first, 'X-Dropped')).toEqual([]);
    expect(await ask()).toEqual(first);
    expect([words, runs.length]).toEqual([['saved'], 1]);
  });

  test('is given to the retry when an outer layer has told the client to wait no longer', async () => {
    const late = gate();
    const words: unknown[] = [];
    const { ask, runs } = await recoveryApp(
      place.framework,
      place.makeStore,
      {},
      [
        async (req, res) => {
          await late.opened;
          try {
            res.status(201).json({ made: true });
          } catch (error) {
            words.push((error as NodeJS.ErrnoException).code);
          }
          words.push(await req.idempotency?.settle(MADE));
        },
      ],
      [timeOut],
    );
    expect(said(await ask())).toEqual([503, 'too slow']);
    expect(said(await ask())).toEqual(PENDING);
    late.open();
    await until(() => words.length === 2);
    expect(words).toEqual(['ERR_HTTP_HEADERS_SENT', 'saved']);
    expect(said(await ask())).toEqual([201, BODY]);
    expect(runs).toHaveLength(1);
  });

  test('is settled once', async () => {
    const words: unknown[] = [];
    const { ask } = await recoveryApp(place.framework, place.makeStore, {}, [
      async (req) => {
        const both = [req.idempotency?.settle(MADE), req.idempotency?.settle(OTHER)];
        for (const each of await Promise.allSettled(both)) {
          words.push(each.status === 'fulfilled' ? each.value : each.reason.code);
        }
        words.push(await req.idempotency?.settle(OTHER).catch((error) => error.code));
      },
    ]);
    expect(said(await ask())).toEqual([201, BODY]);
    await until(() => words.length === 3);
    expect(words).toEqual(['saved', 'already_answered', 'already_answered']);
    expect(said(await ask())).toEqual([201, BODY]);
  });

  test.each<[string, (res: import('express').Response) => unknown]>([
    ['was begun', (res) => res.write('so far')],
    ['was given', (res) => res.send('so far')],
  ])('is refused once an answer %s, which is the outcome', async (_, answer) => {
    const words: unknown[] = [];
    const { ask } = await recoveryApp(place.framework, place.makeStore, {}, [
      async (req, res) => {
        answer(res);
        words.push(await req.idempotency?.settle(MADE).catch((error) => error.code));
        if (!res.writableEnded) res.end();
      },
    ]);
    expect(said(await ask())).toEqual([200, 'so far']);
    expect(words).toEqual(['already_answered']);
    expect(said(await ask())).toEqual([200, 'so far']);
  });

  test('is the outcome, whatever the handler answers while it is being saved', async () => {
    const { ask } = await recoveryApp(place.framework, place.makeStore, {}, [
      async (req, res) => {
        const settled = req.idempotency?.settle(MADE);
        res.status(200).send('something else');
        await settled;
      },
    ]);
    const first = await ask();
    expect(said(first)).toEqual([201, BODY]);
    expect(await ask()).toEqual(first);
  });

  test('of an error status is the outcome, too', async () => {
    const { ask, runs } = await recoveryApp(place.framework, place.makeStore, {}, [
      async (req) => void (await req.idempotency?.settle(done({ status: 500, body: 'for good' }))),
    ]);
    expect(said(await ask())).toEqual([500, 'for good']);
    expect(said(await ask())).toEqual([500, 'for good']);
    expect(runs).toHaveLength(1);
  });

  test('of an attempt that was taken over changes nothing, and it is told so', async () => {
    const wake = gate();
    const words: unknown[] = [];
    const recovery = keyed({ rerunWithinMs: 10 * LEASE_MS });
    const { ask, clock, runs } = await recoveryApp(place.framework, place.makeStore, { recovery }, [
      async (req) => {
        await wake.opened;
        words.push(await req.idempotency?.settle(OTHER));
      },
      (_req, res) => void res.status(201).send('by the second'),
    ]);
    const stopped = ask();
    await until(() => runs.length === 1);
    clock.advance(LEASE_MS);
    const winner = await ask();
    wake.open();
    expect(await stopped).toEqual(winner);
    await until(() => words.length === 1);
    expect(words).toEqual(['superseded']);
    expect(await ask()).toEqual(winner);
  });

  test('is no outcome after the word that nothing was begun: it is sent, and the key is free', async () => {
    const words: unknown[] = [];
    const { ask, runs } = await recoveryApp(place.framework, place.makeStore, {}, [
      async (req) => {
        neverStarted(new Error('down'));
        words.push(await req.idempotency?.settle(done({ status: 503, body: 'come again' })));
      },
      (_req, res) => void res.status(201).send('made'),
    ]);
    expect(said(await ask())).toEqual([503, 'come again']);
    expect(words).toEqual(['unsaved']);
    expect(said(await ask())).toEqual([201, 'made']);
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 1]);
  });

  test('is given to the retry when an outer layer has answered past the handler', async () => {
    const late = gate();
    const words: unknown[] = [];
    const answerByItself: RequestHandler = (_req, res, next) => {
      const { end } = res;
      setTimeout(() => end.call(res, Buffer.alloc(5_000, 'x'), 'latin1', () => {}), 20);
      next();
    };
    const { ask, runs } = await recoveryApp(
      place.framework,
      place.makeStore,
      {},
      [
        async (req) => {
          await late.opened;
          words.push(await req.idempotency?.settle(MADE));
        },
      ],
      [answerByItself],
    );
    expect((await ask()).body).toBe('x'.repeat(5_000));
    expect(said(await ask())).toEqual(PENDING);
    late.open();
    await until(() => words.length === 1);
    expect(words).toEqual(['saved']);
    expect(said(await ask())).toEqual([201, BODY]);
    expect(runs).toHaveLength(1);
  });

  test('that is none is an error of the handler', async () => {
    const { ask } = await recoveryApp(place.framework, place.makeStore, {}, [
      (req, _res, next) => {
        req.idempotency?.settle({ kind: 'done' } as never).catch(next);
      },
    ]);
    const answered = await ask();
    expect(answered.status).toBe(500);
    expect(answered.body).toContain('to be given done(response), got object');
  });
});

describe.each(EXPRESS_VERSIONS)(
  'an outcome that the store does not take, under %s',
  (_, framework) => {
    afterEach(endAll);

    async function setup(handler: RequestHandler) {
      const store = new FaultyStore(new MemoryStore());
      const app = framework().set('env', 'test').set('x-powered-by', false);
      const options = { storeTimeoutMs: 200, saveTimeoutMs: 300 };
      app.post('/labels', idempotent(store, options), handler);
      const server = await served(app);
      return { store, ask: () => server.ask({ key: 'k' }).then(withoutDate) };
    }

    test('is told as unsaved, and is saved when the store comes back', async () => {
      const words: unknown[] = [];
      const { store, ask } = await setup(async (req) => {
        words.push(await req.idempotency?.settle(MADE));
      });
      store.inject('complete', { kind: 'reject' }, { times: Number.POSITIVE_INFINITY });
      expect(said(await ask())).toEqual([503, '{"error":"outcome_not_saved"}']);
      expect(words).toEqual(['unsaved']);
      store.heal();
      const endMs = Date.now() + 10_000;
      let last = await ask();
      while (last.status !== 201 && Date.now() < endMs) last = await ask();
      expect(said(last)).toEqual([201, BODY]);
    });
  },
);

const OTHER = done({ status: 200, body: 'other' });
