import type { RequestHandler } from 'express';
import * as sources from '../../src/index.ts';
import { FaultyStore } from '../../src/testing/index.ts';
import { EXPRESS_VERSIONS } from '../http/express-versions.ts';
import { gate, until } from '../http/gate.ts';
import { withoutDate } from '../http/served.ts';
import { endAll, said, served } from './recovery-app.ts';

const { drain, idempotent, MemoryStore } = sources;
const REFUSED: [number, string] = [503, '{"error":"not_admitted"}'];

describe.each(EXPRESS_VERSIONS)('draining a store, under %s', (_, framework) => {
  afterEach(endAll);

  async function setup(handler?: RequestHandler) {
    const store = new FaultyStore(new MemoryStore());
    let runs = 0;
    const made: RequestHandler = (req, res, next) => {
      runs += 1;
      if (handler === undefined) res.status(201).send('made');
      else handler(req, res, next);
    };
    const app = framework().set('env', 'test').set('x-powered-by', false);
    const options = { storeTimeoutMs: 100, saveTimeoutMs: 100 };
    app.post('/labels', idempotent(store, options), made);
    app.post('/parcels', anotherCopy().idempotent(store, options), made);
    const server = await served(app);
    const ask = (key: string, path = '/labels') => server.ask({ key, path }).then(withoutDate);
    return { ask, store, runs: () => runs };
  }

  function anotherCopy(): typeof sources {
    let copy: typeof sources | undefined;
    jest.isolateModules(() => {
      copy = require('../../src/index.ts');
    });
    return copy as typeof sources;
  }

  test('admits no new key on any middleware of the store, and goes on replaying', async () => {
    const { ask, store, runs } = await setup();
    const [label, parcel] = [await ask('k'), await ask('k', '/parcels')];
    expect(await drain(store)).toEqual({ isDrained: true, running: 0, inBackground: 0 });
    const refused = await ask('new');
    expect(said(refused)).toEqual(REFUSED);
    expect(refused.lines).toContain('Retry-After: 2');
    expect(said(await ask('new', '/parcels'))).toEqual(REFUSED);
    expect([await ask('k'), await ask('k', '/parcels')]).toEqual([label, parcel]);
    expect(runs()).toBe(2);
    expect(store.history.methods.at(-3)).toBe('release');
  });

  test('through one copy of the package counts for every other', async () => {
    const { ask, store, runs } = await setup();
    const copy = anotherCopy();
    expect(copy.drain).not.toBe(drain);
    await copy.drain(store);
    expect(said(await ask('new'))).toEqual(REFUSED);
    expect(said(await ask('new', '/parcels'))).toEqual(REFUSED);
    expect(runs()).toBe(0);
  });

  test('leaves other stores alone', async () => {
    const { ask, store } = await setup();
    const other = await setup();
    await drain(store);
    expect(said(await other.ask('new'))).toEqual([201, 'made']);
    expect(said(await ask('new'))).toEqual(REFUSED);
  });

  test('waits for handlers that run, of every copy, and lets them answer', async () => {
    const wake = gate();
    const { ask, store, runs } = await setup(async (_req, res) => {
      await wake.opened;
      res.status(201).send('made');
    });
    const running = [ask('k'), ask('k', '/parcels')];
    await until(() => runs() === 2);
    let report: unknown;
    const drained = drain(store).then((said) => {
      report = said;
    });
    expect(said(await ask('new'))).toEqual(REFUSED);
    expect(report).toBeUndefined();
    wake.open();
    for (const answered of await Promise.all(running))
      expect(said(answered)).toEqual([201, 'made']);
    await drained;
    expect(report).toEqual({ isDrained: true, running: 0, inBackground: 0 });
  });

  test('waits for what is saved in the background', async () => {
    const { ask, store } = await setup();
    store.inject('complete', { kind: 'reject' }, { times: Number.POSITIVE_INFINITY });
    expect(said(await ask('k'))).toEqual([503, '{"error":"outcome_not_saved"}']);
    const early = await drain(store, { timeoutMs: 0 });
    expect(early).toEqual({ isDrained: false, running: 0, inBackground: 1 });
    store.heal();
    expect((await drain(store)).isDrained).toBe(true);
    expect(said(await ask('k'))).toEqual([201, 'made']);
  });

  test('gives up after timeoutMs, and reports what is still under way', async () => {
    const wake = gate();
    const { ask, store, runs } = await setup(async (_req, res) => {
      await wake.opened;
      res.status(201).send('made');
    });
    const running = ask('k');
    await until(() => runs() === 1);
    const report = await drain(store, { timeoutMs: 20 });
    expect(report).toEqual({ isDrained: false, running: 1, inBackground: 0 });
    wake.open();
    expect(said(await running)).toEqual([201, 'made']);
    expect((await drain(store)).isDrained).toBe(true);
  });
});

test.each<[string, unknown, object | undefined, string]>([
  [
    'no store',
    undefined,
    undefined,
    'drain(…) to be given the store of the middleware, got undefined',
  ],
  ['null', null, undefined, 'drain(…) to be given the store of the middleware, got null'],
  [
    'a time that is none',
    new MemoryStore(),
    { timeoutMs: -1 },
    '`timeoutMs` of drain(…) to be a whole number',
  ],
  [
    'half a time',
    new MemoryStore(),
    { timeoutMs: 0.5 },
    'of milliseconds from 0 to 2147483647, got 0.5',
  ],
  ['a time beyond timers', new MemoryStore(), { timeoutMs: 2 ** 31 }, 'got 2147483648'],
])('draining refuses %s', async (_, store, options, sentence) => {
  const error = await drain(store as never, options).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'option_invalid' });
  expect((error as Error).message).toContain(sentence);
});
