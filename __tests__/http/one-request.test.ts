import { MemoryStore } from '../../src/index.ts';
import { BODY, closeServed, countedHandler } from './counted-handler.ts';
import { EXPRESS_VERSIONS } from './express-versions.ts';
import { gate, until } from './gate.ts';
import { valuesOf, withoutDate } from './served.ts';

type SetupArguments =
  Parameters<typeof countedHandler> extends [unknown, ...infer Rest] ? Rest : never;

describe.each(EXPRESS_VERSIONS)('one request through %s', (_, express) => {
  const setup = (...rest: SetupArguments) => countedHandler(express, ...rest);
  afterEach(closeServed);

  test('is answered by its handler, every retry by the same status, lines and bytes', async () => {
    const { ask, runs, journal } = await setup();
    const first = await ask({ key: 'k', body: BODY });
    expect(first.status).toBe(201);
    expect(valuesOf(first, 'ETag')).toEqual(['"label-901-v1"', '"backup"']);
    expect(first.body).toBe('{"label":1}');
    const retries = [await ask({ key: 'k', body: BODY }), await ask({ key: '"k"', body: BODY })];
    for (const retry of retries) expect(withoutDate(retry)).toEqual(withoutDate(first));
    expect(runs).toHaveLength(1);
    expect(journal()).toBe('claim complete claim claim');
  });

  test('is refused with 409 while the first one runs', async () => {
    const answering = gate();
    const { ask, runs } = await setup({}, async (_req, res) => {
      await answering.opened;
      res.sendStatus(202);
    });
    const first = ask({ key: 'k', body: BODY });
    await until(() => runs.length === 1);
    const second = await ask({ key: 'k', body: BODY });
    expect([second.status, second.body]).toEqual([409, '{"error":"request_pending"}']);
    answering.open();
    expect((await first).status).toBe(202);
    expect((await ask({ key: 'k', body: BODY })).body).toBe('Accepted');
    expect(runs).toHaveLength(1);
  });

  test('that is another one under the key of the first is a conflict, done or not', async () => {
    const { ask, store, runs } = await setup();
    store.inject('complete', { kind: 'apply-late', afterMs: 50 });
    const first = ask({ key: 'k', body: BODY });
    await until(() => runs.length === 1);
    for (const _ of ['pending', 'done']) {
      const other = await ask({ key: 'k', body: '{"parcel_id":"other"}' });
      expect([other.status, other.body]).toEqual([409, '{"error":"idempotency_conflict"}']);
      await first;
    }
    expect(runs).toHaveLength(1);
  });

  test('whose result is over its retention is told so, and is not done again', async () => {
    let nowMs = 0;
    const store = new MemoryStore({ now: () => nowMs, resultRetentionMs: 1_000 });
    const { ask, runs } = await setup({}, undefined, store);
    await ask({ key: 'k', body: BODY });
    nowMs = 1_000;
    const late = await ask({ key: 'k', body: BODY });
    expect([late.status, late.body]).toEqual([409, '{"error":"idempotency_result_expired"}']);
    expect(runs).toHaveLength(1);
  });

  test('is kept under the bare key when the store serves one operation only', async () => {
    const { ask, store } = await setup({ operation: false });
    await ask({ key: 'label-req-7', body: BODY });
    expect(store.history.events.map((event) => event.key)).toEqual(['label-req-7', 'label-req-7']);
  });

  test.each([500, 503, 408])('that ends with %d leaves its key pending', async (status) => {
    const { ask, runs, journal } = await setup({}, (_req, res) => {
      res.sendStatus(status);
    });
    expect((await ask({ key: 'k', body: BODY })).status).toBe(status);
    expect((await ask({ key: 'k', body: BODY })).body).toBe('{"error":"request_pending"}');
    expect(runs).toHaveLength(1);
    expect(journal()).toBe('claim claim');
  });

  test('whose handler throws leaves its key pending', async () => {
    const { ask, journal } = await setup({}, () => {
      throw new Error('database down');
    });
    expect((await ask({ key: 'k', body: BODY })).status).toBe(500);
    expect((await ask({ key: 'k', body: BODY })).status).toBe(409);
    expect(journal()).toBe('claim claim');
  });

  test.each([400, 404, 422, 304, 204])('that ends with %d is replayed', async (status) => {
    const { ask, runs } = await setup({}, (_req, res) => {
      res.status(status).end();
    });
    const first = await ask({ key: 'k', body: BODY });
    expect(first.status).toBe(status);
    expect(withoutDate(await ask({ key: 'k', body: BODY }))).toEqual(withoutDate(first));
    expect(runs).toHaveLength(1);
  });

  test('is kept or left pending as `keep` says of its status', async () => {
    const keep = (status: number) => (status === 422 || status < 200 ? 'pending' : 'save');
    const { ask, runs } = await setup({ keep }, (req, res) => {
      res.sendStatus(req.body.status);
    });
    await ask({ key: 'a', body: '{"status":500}' });
    expect((await ask({ key: 'a', body: '{"status":500}' })).status).toBe(500);
    await ask({ key: 'b', body: '{"status":422}' });
    expect((await ask({ key: 'b', body: '{"status":422}' })).status).toBe(409);
    expect(runs).toHaveLength(2);
  });

  test('larger than is kept is told in full once, and the retry that it was not kept', async () => {
    const { ask, runs, store } = await setup({ maxResponseBytes: 10 }, (_req, res) => {
      res.send('x'.repeat(11));
    });
    expect((await ask({ key: 'k', body: BODY })).body).toBe('x'.repeat(11));
    expect(store.history.events[1]?.response).toEqual({ kept: false, status: 200 });
    const retry = await ask({ key: 'k', body: BODY });
    expect([retry.status, retry.body]).toEqual([409, '{"error":"response_not_kept"}']);
    expect(runs).toHaveLength(1);
  });

  test('does the action once for 20 equal requests at the same time', async () => {
    const { ask, runs } = await setup({}, async (_req, res) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      res.status(201).send('made');
    });
    const all = await Promise.all(Array.from({ length: 20 }, () => ask({ key: 'k', body: BODY })));
    expect(runs).toHaveLength(1);
    const made = all.filter((answered) => answered.status === 201);
    expect(made.map((answered) => answered.body)).toContain('made');
    expect(all.filter((answered) => answered.body === '{"error":"request_pending"}').length).toBe(
      20 - made.length,
    );
  });

  test('is fingerprinted before the handler changes its body', async () => {
    const { ask } = await setup({}, (req, res) => {
      req.body.parcel_id = 'changed';
      res.sendStatus(201);
    });
    expect((await ask({ key: 'k', body: BODY })).status).toBe(201);
    expect((await ask({ key: 'k', body: BODY })).status).toBe(201);
  });
});
