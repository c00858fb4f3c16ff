import type { Response } from 'express';
import { idempotent, MemoryStore } from '../../src/index.ts';
import { FaultyStore } from '../../src/testing/index.ts';
import { BODY, closeServed, countedHandler } from './counted-handler.ts';
import { EXPRESS_VERSIONS } from './express-versions.ts';
import { gate, until } from './gate.ts';
import { serve, valuesOf, withoutDate } from './served.ts';

type SetupArguments =
  Parameters<typeof countedHandler> extends [unknown, ...infer Rest] ? Rest : never;

describe.each(EXPRESS_VERSIONS)(
  'a request that is refused, or passes untouched, through %s',
  (_, express) => {
    const setup = (...rest: SetupArguments) => countedHandler(express, ...rest);
    afterEach(closeServed);

    test('lets the handler see its attempt', async () => {
      const { ask, runs } = await setup({ tenant: () => 'acme' });
      await ask({ key: 'k-1', body: BODY });
      expect(runs[0]).toMatchObject({
        key: 'k-1',
        tenant: 'acme',
        operation: 'POST /labels',
        attempt: 1,
      });
      expect(runs[0]?.owner).toMatch(/^[0-9a-f]{32}$/);
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
      expect([answered.status, answered.body]).toEqual([
        400,
        '{"error":"idempotency_key_invalid"}',
      ]);
      expect(journal()).toBe('');
    });

    test('with a key header that Node does not join is refused when sent twice', async () => {
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

    test.each([429, 503] as const)(
      'refused by admit with %d may come again, and is then done once',
      async (status) => {
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
      },
    );

    test.each(['GET', 'HEAD', 'OPTIONS', 'TRACE'])(
      'by %s passes through untouched',
      async (method) => {
        const { ask, runs, journal } = await setup();
        expect((await ask({ method, path: '/any' })).status).toBe(201);
        expect(runs).toEqual([undefined]);
        expect(journal()).toBe('');
      },
    );

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
      [
        'throws',
        () => {
          throw new Error('no');
        },
      ],
      ['rejects', () => Promise.reject(new Error('no'))],
      ['is empty', () => ''],
      ['is no string', () => 7 as never],
      ['is undefined', async () => undefined as never],
      ['has a lone surrogate', () => '\ud800'],
      ['holds a NUL', () => 'a\0b'],
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
      ['fingerprint', { fingerprint: () => 'a\0b' }],
      ['key', { key: () => 7 as never }],
    ])(
      'for which `%s` answers nonsense is an error 500, and nothing is claimed',
      async (name, options) => {
        const { ask, journal } = await setup(options);
        const answered = await ask({ key: 'k', body: BODY });
        expect(answered.status).toBe(500);
        expect(answered.body).toContain(`Expected the \`${name}\` option to answer`);
        expect(journal()).toBe('');
      },
    );

    test('of one tenant is not the request of another', async () => {
      const { ask, runs } = await setup({ tenant: (req) => req.get('x-tenant') as string });
      for (const name of ['acme', 'other']) {
        await ask({ key: 'k', body: BODY, headers: { 'x-tenant': name } });
      }
      expect(runs.map((attempt) => attempt?.tenant)).toEqual(['acme', 'other']);
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

    test('answered by an outer layer during admission may come again', async () => {
      const app = express();
      const store = new FaultyStore(new MemoryStore());
      let runs = 0;
      const admission = gate();
      const responses: Response[] = [];
      app.post('/labels', express.json(), (_req, res, next) => {
        responses.push(res);
        next();
      });
      const admit = async () => {
        if (responses.length === 1) {
          responses[0]?.sendStatus(503);
          await admission.opened;
        }
        return 0 as const;
      };
      app.post('/labels', idempotent(store, { admit }), (_req, res) => {
        runs += 1;
        res.sendStatus(201);
      });
      await using server = await serve(app);
      expect((await server.ask({ key: 'k', body: BODY })).status).toBe(503);
      admission.open();
      await until(() => store.history.methods.length === 2);
      expect(store.history.methods).toEqual(['claim', 'release']);
      expect((await server.ask({ key: 'k', body: BODY })).status).toBe(201);
      expect(runs).toBe(1);
    });
  },
);
