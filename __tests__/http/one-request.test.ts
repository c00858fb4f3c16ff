import type { RequestHandler } from 'express';
import {
  type Attempt,
  type IdempotencyOptions,
  type IdempotencyStore,
  idempotent,
  MemoryStore,
} from '../../src/index.ts';
import { FaultyStore } from '../../src/testing/index.ts';
import { EXPRESS_VERSIONS } from './express-versions.ts';
import { gate, until } from './gate.ts';
import { type Served, serve, valuesOf, withoutDate } from './served.ts';

const BODY = '{"parcel_id":"parcel-42"}';

describe.each(EXPRESS_VERSIONS)('one request through %s', (_, express) => {
  const served: Served[] = [];
  afterEach(async () => {
    for (const each of served.splice(0)) await each[Symbol.asyncDispose]();
  });

  /** A counted handler that answers 201 with two ETag lines, behind the middleware. */
  async function setup(
    options: IdempotencyOptions = {},
    handler?: RequestHandler,
    store: IdempotencyStore = new MemoryStore(),
  ) {
    const faulty = new FaultyStore(store);
    const runs: (Attempt | undefined)[] = [];
    const create: RequestHandler = (req, res, next) => {
      runs.push(req.idempotency);
      if (handler !== undefined) {
        handler(req, res, next);
        return;
      }
      res.status(201).location('/labels/label-901');
      res.append('ETag', '"label-901-v1"').append('ETag', '"backup"');
      res.json({ label: runs.length });
    };
    const app = express();
    app.set('env', 'test').set('x-powered-by', false);
    app.post('/labels', express.json(), idempotent(faulty, options), create);
    app.all('/any', idempotent(faulty, options), create);
    const server = await serve(app);
    served.push(server);
    const journal = () => faulty.history.methods.join(' ');
    return { ask: server.ask, port: server.port, store: faulty, runs, journal };
  }

  test('is answered by its handler, and every retry by the same status, lines and bytes', async () => {
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

  test('lets the handler see its attempt', async () => {
    const { ask, runs } = await setup({ tenant: () => 'acme' });
    await ask({ key: 'k-1', body: BODY });
    expect(runs[0]).toMatchObject({
      key: 'k-1',
      tenant: 'acme',
      operation: 'POST /labels',
      attempt: 1,
    });
    expect(runs[0]?.owner).toMatch(/^[0-9a-f-]{36}$/);
    expect(runs[0]?.fingerprint).toMatch(/^v1:[0-9a-f]{64}$/);
  });

  test('without a key is refused, and the store is not asked', async () => {
    const { ask, runs, journal } = await setup();
    const answered = await ask({ body: BODY });
    expect(answered.status).toBe(400);
    expect(valuesOf(answered, 'Content-Type')).toEqual(['application/json']);
    expect(valuesOf(answered, 'ETag')).toEqual([]);
    expect(answered.body).toBe('{"error":"idempotency_key_missing"}');
    expect(runs).toHaveLength(0);
    expect(journal()).toBe('');
  });

  test.each([
    ['empty', ''],
    ['malformed', '"half'],
    ['too long', 'k'.repeat(256)],
    ['sent twice', ['a', 'a']],
  ])('with a key that is %s is refused, and the store is not asked', async (_, key) => {
    const { ask, journal } = await setup();
    const answered = await ask({ body: BODY, headers: { 'Idempotency-Key': key } });
    expect([answered.status, answered.body]).toEqual([400, '{"error":"idempotency_key_invalid"}']);
    expect(journal()).toBe('');
  });

  test('with a key header of another name that Node would not join is refused when sent twice', async () => {
    const { ask } = await setup({ key: 'Authorization' });
    const answered = await ask({ body: BODY, headers: { Authorization: ['a', 'b'] } });
    expect(answered.body).toBe('{"error":"idempotency_key_invalid"}');
  });

  test('without a key passes through untouched where none is required', async () => {
    const { ask, runs, journal } = await setup({ required: false });
    expect((await ask({ body: BODY })).body).toBe('{"label":1}');
    expect((await ask({ body: BODY })).body).toBe('{"label":2}');
    expect(runs).toEqual([undefined, undefined]);
    expect(journal()).toBe('');
    expect((await ask({ body: BODY, key: '"' })).status).toBe(400);
  });

  test('takes its key from a function, which may be asynchronous', async () => {
    const { ask, runs } = await setup({ key: async (req) => req.body.parcel_id });
    await ask({ body: BODY });
    await ask({ body: BODY });
    expect(runs.map((attempt) => attempt?.key)).toEqual(['parcel-42']);
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

  test('whose result is over its retention is told so, and the action is not repeated', async () => {
    let nowMs = 0;
    const store = new MemoryStore({ now: () => nowMs, resultRetentionMs: 1_000 });
    const { ask, runs } = await setup({}, undefined, store);
    await ask({ key: 'k', body: BODY });
    nowMs = 1_000;
    const late = await ask({ key: 'k', body: BODY });
    expect([late.status, late.body]).toEqual([409, '{"error":"idempotency_result_expired"}']);
    expect(runs).toHaveLength(1);
  });

  test.each([429, 503] as const)('refused by admit with %d may come again, and is then done once', async (status) => {
    let admission: 0 | 429 | 503 = status;
    const { ask, runs, journal } = await setup({ admit: async () => admission });
    const refused = await ask({ key: 'k', body: BODY });
    expect([refused.status, refused.body]).toEqual([status, '{"error":"not_admitted"}']);
    expect(valuesOf(refused, 'Retry-After')).toEqual(['2']);
    expect(valuesOf(refused, 'Content-Type')).toEqual(['application/json']);
    admission = 0;
    const done = await ask({ key: 'k', body: BODY });
    expect(done.status).toBe(201);
    expect(withoutDate(await ask({ key: 'k', body: BODY }))).toEqual(withoutDate(done));
    expect(runs).toHaveLength(1);
    expect(journal()).toBe('claim release claim complete claim');
  });

  test.each(['GET', 'HEAD', 'OPTIONS', 'TRACE'])('by %s passes through untouched', async (method) => {
    const { ask, runs, journal } = await setup();
    expect((await ask({ method, path: '/any' })).status).toBe(201);
    expect(runs).toEqual([undefined]);
    expect(journal()).toBe('');
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('by %s needs a key', async (method) => {
    const { ask } = await setup();
    expect((await ask({ method, path: '/any' })).status).toBe(400);
    expect((await ask({ method, path: '/any', key: 'k' })).status).toBe(201);
  });

  test('by a method that is not in the list passes through', async () => {
    const { ask, journal } = await setup({ methods: ['POST'] });
    expect((await ask({ method: 'DELETE', path: '/any' })).status).toBe(201);
    expect(journal()).toBe('');
    expect((await ask({ method: 'POST', path: '/any' })).status).toBe(400);
  });

  test.each([
    ['throws', () => { throw new Error('no'); }],
    ['rejects', () => Promise.reject(new Error('no'))],
    ['is empty', () => ''],
    ['is no string', () => 7 as never],
    ['is undefined', async () => undefined as never],
    ['has a lone surrogate', () => '\ud800'],
  ])('whose tenant %s is an error 500, and nothing is claimed', async (_, tenant) => {
    const { ask, runs, journal } = await setup({ tenant });
    const answered = await ask({ key: 'k', body: BODY });
    expect(answered.status).toBe(500);
    expect(answered.body).toContain('Expected the `tenant` option to answer a name');
    expect(runs).toHaveLength(0);
    expect(journal()).toBe('');
  });

  test.each([
    ['operation', { operation: () => '' }],
    ['operation', { operation: async () => 7 as never }],
    ['fingerprint', { fingerprint: () => undefined as never }],
    ['key', { key: () => 7 as never }],
  ])('for which `%s` answers nonsense is an error 500, and nothing is claimed', async (name, options) => {
    const { ask, journal } = await setup(options);
    const answered = await ask({ key: 'k', body: BODY });
    expect(answered.status).toBe(500);
    expect(answered.body).toContain(`Expected the \`${name}\` option to answer`);
    expect(journal()).toBe('');
  });

  test('of one tenant is not the request of another', async () => {
    const { ask, runs } = await setup({ tenant: (req) => req.get('x-tenant') as string });
    for (const name of ['acme', 'other']) {
      await ask({ key: 'k', body: BODY, headers: { 'x-tenant': name } });
    }
    expect(runs.map((attempt) => attempt?.tenant)).toEqual(['acme', 'other']);
  });

  test('is kept under the bare key when the store serves one operation only', async () => {
    const { ask, store } = await setup({ operation: false });
    await ask({ key: 'label-req-7', body: BODY });
    expect(store.history.events.map((event) => event.key)).toEqual(['label-req-7', 'label-req-7']);
  });

  test.each([500, 503, 408])('that ends with %d leaves its key pending', async (status) => {
    const { ask, runs, journal } = await setup({}, (_req, res) => { res.sendStatus(status); });
    expect((await ask({ key: 'k', body: BODY })).status).toBe(status);
    expect((await ask({ key: 'k', body: BODY })).body).toBe('{"error":"request_pending"}');
    expect(runs).toHaveLength(1);
    expect(journal()).toBe('claim claim');
  });

  test('whose handler throws leaves its key pending', async () => {
    const { ask, journal } = await setup({}, () => { throw new Error('database down'); });
    expect((await ask({ key: 'k', body: BODY })).status).toBe(500);
    expect((await ask({ key: 'k', body: BODY })).status).toBe(409);
    expect(journal()).toBe('claim claim');
  });

  test.each([400, 404, 422, 304, 204])('that ends with %d is replayed', async (status) => {
    const { ask, runs } = await setup({}, (_req, res) => { res.status(status).end(); });
    const first = await ask({ key: 'k', body: BODY });
    expect(first.status).toBe(status);
    expect(withoutDate(await ask({ key: 'k', body: BODY }))).toEqual(withoutDate(first));
    expect(runs).toHaveLength(1);
  });

  test('is kept or left pending as `keep` says of its status', async () => {
    const keep = (status: number) => (status === 422 || status < 200 ? 'pending' : 'save');
    const { ask, runs } = await setup({ keep }, (req, res) => { res.sendStatus(req.body.status); });
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

  test('that meets a second middleware is a loud error, and not two claims', async () => {
    const app = express();
    const store = new FaultyStore(new MemoryStore());
    app.set('env', 'test').use(express.json(), idempotent(store));
    let runs = 0;
    app.post('/labels', idempotent(store), (_req, res) => {
      runs += 1;
      res.sendStatus(201);
    });
    await using server = await serve(app);
    const answered = await server.ask({ key: 'k', body: BODY });
    expect(answered.status).toBe(500);
    expect(answered.body).toContain('got a second one');
    expect(store.history.methods).toEqual(['claim']);
    expect(runs).toBe(0);
  });

  test('has its answer even when admit throws, and may come again', async () => {
    let down = true;
    const admit = () => {
      if (down) throw Object.assign(new Error('limiter down'), { status: 502 });
      return 0 as const;
    };
    const { ask, runs, journal } = await setup({ admit });
    expect((await ask({ key: 'k', body: BODY })).status).toBe(502);
    down = false;
    expect((await ask({ key: 'k', body: BODY })).status).toBe(201);
    expect(runs).toHaveLength(1);
    expect(journal()).toBe('claim release claim complete');
  });

  test('that was answered by an outer layer during admission does not run, and may come again', async () => {
    const app = express();
    const store = new FaultyStore(new MemoryStore());
    let runs = 0;
    app.post('/labels', express.json(), (_req, res, next) => {
      if (runs === 0) setTimeout(() => res.headersSent || res.sendStatus(503), 20);
      next();
    });
    let waitMs = 60;
    const admit = () => new Promise<0>((resolve) => setTimeout(() => resolve(0), waitMs));
    app.post('/labels', idempotent(store, { admit }), (_req, res) => {
      runs += 1;
      res.sendStatus(201);
    });
    await using server = await serve(app);
    expect((await server.ask({ key: 'k', body: BODY })).status).toBe(503);
    waitMs = 0;
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(store.history.methods).toEqual(['claim', 'release']);
    expect((await server.ask({ key: 'k', body: BODY })).status).toBe(201);
    expect(runs).toBe(1);
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
