import { type Attempt, idempotent, MemoryStore } from '../../src/index.ts';
import { FaultyStore } from '../../src/testing/index.ts';
import { EXPRESS_VERSIONS } from './express-versions.ts';
import { type Served, serve, withoutDate } from './served.ts';

describe.each(EXPRESS_VERSIONS)('mounted under %s', (_, express) => {
  const served: Served[] = [];
  afterEach(async () => {
    for (const each of served.splice(0)) await each[Symbol.asyncDispose]();
  });

  function setup() {
    const store = new FaultyStore(new MemoryStore());
    const runs: (Attempt & { params?: object })[] = [];
    const app = express();
    app.set('env', 'test');
    const create: Parameters<typeof app.use>[0] = ((req: never, res: never) => {
      const { idempotency, params } = req as { idempotency: Attempt; params: object };
      runs.push(Object.assign(Object.create(idempotency), { params }));
      (res as { sendStatus(status: number): void }).sendStatus(201);
    }) as never;
    const start = async () => {
      const server = await serve(app);
      served.push(server);
      return server.ask;
    };
    return { app, store, runs, create, start, protect: idempotent(store) };
  }

  test('the middleware on a route names method and path', async () => {
    const { app, runs, create, start, protect } = setup();
    app.post('/labels/:id/print', protect, create);
    const ask = await start();
    await ask({ key: 'k', path: '/labels/7/print?copies=2' });
    expect(runs[0]?.operation).toBe('POST /labels/7/print');
    expect(runs[0]?.params).toEqual({ id: '7' });
    await ask({ key: 'k', path: '/labels/8/print?copies=2' });
    expect(runs).toHaveLength(2);
  });

  test('the middleware on the whole application names the path of the route', async () => {
    const { app, runs, create, start, protect } = setup();
    app.use(protect);
    app.post('/labels', create);
    await (await start())({ key: 'k' });
    expect(runs[0]?.operation).toBe('POST /labels');
  });

  test('the middleware on a router names the mount path too', async () => {
    const { app, runs, create, start, protect } = setup();
    const router = express.Router();
    router.use(protect);
    router.post('/labels', create);
    app.use('/v1', router);
    await (await start())({ key: 'k', path: '/v1/labels' });
    expect(runs[0]?.operation).toBe('POST /v1/labels');
  });

  test('the middleware on a nested router with mergeParams names the whole path', async () => {
    const { app, runs, create, start, protect } = setup();
    const outer = express.Router();
    const inner = express.Router({ mergeParams: true });
    inner.post('/labels', protect, create);
    outer.use('/tenants/:tenant', inner);
    app.use('/v2', outer);
    await (await start())({ key: 'k', path: '/v2/tenants/acme/labels' });
    expect(runs[0]?.operation).toBe('POST /v2/tenants/acme/labels');
    expect(runs[0]?.params).toEqual({ tenant: 'acme' });
  });

  test('the middleware takes an answer after next() for the answer of the handler', async () => {
    const { app, start, protect } = setup();
    let runs = 0;
    app.post('/labels', protect, (_req, _res, next) => {
      runs += 1;
      next();
    });
    app.use((_req, res) => {
      res.status(202).send('by another');
    });
    const ask = await start();
    const first = await ask({ key: 'k' });
    expect([first.status, first.body]).toEqual([202, 'by another']);
    expect(withoutDate(await ask({ key: 'k' }))).toEqual(withoutDate(first));
    expect(runs).toBe(1);
  });

  test.each(['route', 'router'] as const)(
    'the middleware follows next(%p) as bare Express does',
    async (word) => {
      const { app, start, protect } = setup();
      let runs = 0;
      const router = express.Router();
      router.post('/labels', protect, (_req, _res, next) => {
        runs += 1;
        next(word);
      });
      router.post('/labels', (_req, res) => {
        res.status(201).send('the second route');
      });
      app.use(router);
      app.use((_req, res) => {
        res.status(200).send('after the router');
      });
      const ask = await start();
      const body = word === 'route' ? 'the second route' : 'after the router';
      expect((await ask({ key: 'k' })).body).toBe(body);
      expect((await ask({ key: 'k' })).body).toBe(body);
      expect(runs).toBe(1);
    },
  );

  test('the middleware replays the 404 of a path that no route takes', async () => {
    const { app, store, start, protect } = setup();
    app.use(protect);
    const ask = await start();
    const first = await ask({ key: 'k', path: '/nowhere' });
    expect(first.status).toBe(404);
    expect(withoutDate(await ask({ key: 'k', path: '/nowhere' }))).toEqual(withoutDate(first));
    expect(store.history.methods).toEqual(['claim', 'complete', 'claim']);
  });

  test('the middleware replays a 4xx of the error handler, and leaves a 5xx pending', async () => {
    const { app, start, protect } = setup();
    let runs = 0;
    app.post('/labels', express.json(), protect, (req) => {
      runs += 1;
      throw Object.assign(new Error('refused'), { status: req.body.status });
    });
    const ask = await start();
    for (const [key, status, retryStatus] of [
      ['a', 422, 422],
      ['b', 500, 409],
    ] as const) {
      const asking = { key, body: JSON.stringify({ status }) };
      expect((await ask(asking)).status).toBe(status);
      expect((await ask(asking)).status).toBe(retryStatus);
    }
    expect(runs).toBe(2);
  });
});
