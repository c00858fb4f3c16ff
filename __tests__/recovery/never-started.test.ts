import express, { type RequestHandler } from 'express';
import * as sources from '../../src/index.ts';
import { gate, until } from '../http/gate.ts';
import {
  endAll,
  LEASE_MS,
  PENDING,
  PLACES,
  recoveryApp,
  said,
  sqliteStore,
} from './recovery-app.ts';

const { keyed, neverStarted } = sources;

function anotherCopy(): typeof sources {
  let copy: typeof sources | undefined;
  jest.isolateModules(() => {
    copy = require('../../src/index.ts');
  });
  return copy as typeof sources;
}

class Down extends Error {
  readonly status = 503;
}

describe.each(PLACES)('a handler that knows that it has begun nothing, in $place', (place) => {
  afterEach(endAll);

  const made: RequestHandler = (_req, res) => void res.status(201).send('made');
  const setup = (first: RequestHandler, options: sources.IdempotencyOptions = {}) =>
    recoveryApp(place.framework, place.makeStore, options, [first, made]);

  const later = () => new Promise((resolve) => setTimeout(resolve, 5));

  test.each<[string, RequestHandler]>([
    [
      'by throwing',
      () => {
        throw neverStarted(new Down('database down'));
      },
    ],
    ['by next', (_req, _res, next) => next(neverStarted(new Down('database down')))],
    [
      'from asynchronous code',
      async (_req, _res, next) => {
        await later();
        next(neverStarted(new Down('database down')));
      },
    ],
    ['from a timer', (_req, _res, next) => void setTimeout(() => next(neverStarted(DOWN)), 5)],
    [
      'through another copy of the package',
      async (_req, _res, next) => {
        const copy = anotherCopy();
        expect(copy.neverStarted).not.toBe(neverStarted);
        await later();
        next(copy.neverStarted(DOWN));
      },
    ],
    [
      'and answers itself',
      (_req, res) => {
        neverStarted(DOWN);
        res.status(503).send('come again');
      },
    ],
    [
      'with an answer of 400',
      (_req, res) => {
        neverStarted(DOWN);
        res.status(400).send('come again');
      },
    ],
  ])('gives the key back and then the error: %s', async (_, handler) => {
    const { ask, runs } = await setup(handler);
    const failed = await ask();
    expect(failed.status).toBe(failed.body === 'come again' ? failed.status : 503);
    expect(failed.status).toBeGreaterThanOrEqual(400);
    expect(failed.body).toMatch(/database down|come again/);
    expect(said(await ask())).toEqual([201, 'made']);
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 1]);
  });

  test('is answered with the very error, untouched', async () => {
    const { ask, app } = await setup((_req, _res, next) => next(neverStarted(DOWN)));
    const seen: unknown[] = [];
    const onError: import('express').ErrorRequestHandler = (error, _req, res, _next) => {
      seen.push(error);
      res.status(503).send('seen');
    };
    app.use(onError);
    expect(said(await ask())).toEqual([503, 'seen']);
    expect(seen).toEqual([DOWN]);
    expect(seen[0]).toBe(DOWN);
  });

  test.each<[string, RequestHandler, [number, string] | undefined]>([
    [
      'without that word',
      () => {
        throw new Down('database down');
      },
      PENDING,
    ],
    [
      'after an answer was begun',
      (_req, res, next) => {
        res.status(500).write('so far');
        next(neverStarted(DOWN));
        res.end();
      },
      PENDING,
    ],
    [
      'after an answer was given',
      (_req, res) => {
        res.status(500).send('failed');
        neverStarted(DOWN);
      },
      PENDING,
    ],
    [
      'with an answer below 400',
      (_req, res) => {
        neverStarted(DOWN);
        res.status(202).send('accepted');
      },
      [202, 'accepted'],
    ],
    [
      'as an outcome for recover, which is another word',
      (_req, _res, next) => next(neverStarted()),
      PENDING,
    ],
  ])('frees nothing %s', async (_, handler, retried) => {
    const { ask, runs } = await setup(handler);
    await ask();
    expect(said(await ask())).toEqual(retried);
    expect(runs).toHaveLength(1);
  });

  test('frees nothing once another attempt owns the key', async () => {
    const wake = gate();
    const second = gate();
    const recovery = keyed({ rerunWithinMs: 10 * LEASE_MS });
    const { ask, clock, runs } = await recoveryApp(place.framework, place.makeStore, { recovery }, [
      async (_req, _res, next) => {
        await wake.opened;
        next(neverStarted(DOWN));
      },
      async (_req, res) => {
        await second.opened;
        res.status(201).send('made');
      },
    ]);
    const stopped = ask();
    await until(() => runs.length === 1);
    clock.advance(LEASE_MS);
    const winner = ask();
    await until(() => runs.length === 2);
    wake.open();
    expect((await stopped).status).toBe(503);
    expect(said(await ask())).toEqual(PENDING);
    second.open();
    expect(said(await winner)).toEqual([201, 'made']);
    expect(runs).toHaveLength(2);
  });

  test('is not taken for another that runs at the same time', async () => {
    const wake = gate();
    const { ask, runs } = await recoveryApp(place.framework, place.makeStore, {}, [
      async (_req, res) => {
        await wake.opened;
        res.status(500).send('failed');
      },
      (_req, _res, next) => next(neverStarted(DOWN)),
      made,
    ]);
    const one = ask('one');
    await until(() => runs.length === 1);
    expect((await ask('other')).status).toBe(503);
    wake.open();
    expect((await one).status).toBe(500);
    expect(said(await ask('one'))).toEqual(PENDING);
    expect(said(await ask('other'))).toEqual([201, 'made']);
  });
});

test('no context is kept once every handler has answered, settled or committed', async () => {
  const open = () => (globalThis as { [CONTEXTS]?: { open: number } })[CONTEXTS]?.open ?? 0;
  const before = open();
  const { ask } = await recoveryApp(express, sqliteStore, { recovery: sources.transactional() }, [
    (req) => req.idempotency?.commitSync(() => ({ status: 201 })),
    (req) => void req.idempotency?.settle(sources.done({ status: 201 })),
    (_req, res) => void res.status(201).send('made'),
    (_req, _res, next) => next(neverStarted(DOWN)),
    (_req, res) => void res.destroy(),
  ]);
  for (const key of ['commits', 'settles', 'answers']) expect((await ask(key)).status).toBe(201);
  expect((await ask('fails')).status).toBe(503);
  await expect(ask('destroys')).rejects.toThrow();
  expect(open()).toBe(before);
  await endAll();
});

test('outside of a handler the word is only the error itself, or an outcome', () => {
  expect(neverStarted(DOWN)).toBe(DOWN);
  expect(neverStarted(undefined)).toBeUndefined();
  expect(neverStarted()).toEqual({ kind: 'never-started' });
});

const DOWN = new Down('database down');
const CONTEXTS = Symbol.for('express-idempotent.running-handlers');
