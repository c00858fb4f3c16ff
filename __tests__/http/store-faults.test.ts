import type { IdempotencyOptions } from '../../src/index.ts';
import { FencedError, IdempotencyError, idempotent, MemoryStore } from '../../src/index.ts';
import { FaultyStore, type StoreFault } from '../../src/testing/index.ts';
import { EXPRESS_VERSIONS } from './express-versions.ts';
import { until } from './gate.ts';
import { type Answered, type Served, serve, valuesOf } from './served.ts';

const QUICK = { storeTimeoutMs: 300, admitTimeoutMs: 300, saveTimeoutMs: 700 };
const ALWAYS = { times: Number.POSITIVE_INFINITY };

describe.each(EXPRESS_VERSIONS)('a store that fails under %s', (_, express) => {
  const served: Served[] = [];
  // Jest fails the test that runs when a rejection is not handled.
  afterEach(async () => {
    for (const each of served.splice(0)) await each[Symbol.asyncDispose]();
  });

  async function setup(options: IdempotencyOptions = {}) {
    const store = new FaultyStore(new MemoryStore());
    const app = express();
    let runs = 0;
    app.set('env', 'test');
    app.post('/labels', idempotent(store, { ...QUICK, ...options }), (_req, res) => {
      runs += 1;
      res.status(201).setHeader('X-Label', 'label-901').send(`made ${runs}`);
    });
    const server = await serve(app);
    served.push(server);
    const retryUntil = async (status: number): Promise<Answered> => {
      let last: Answered | undefined;
      const endMs = Date.now() + 5_000;
      while (last?.status !== status && Date.now() < endMs) last = await server.ask({ key: 'k' });
      return last as Answered;
    };
    return { ask: server.ask, store, runs: () => runs, retryUntil };
  }

  const expectUnavailable = (answered: Answered) => {
    expect([answered.status, answered.body]).toEqual([503, '{"error":"store_unavailable"}']);
    expect(valuesOf(answered, 'Retry-After')).toEqual(['2']);
    expect(valuesOf(answered, 'Content-Type')).toEqual(['application/json']);
  };

  test.each<[string, StoreFault]>([
    ['rejects a claim', { kind: 'reject' }],
    ['applies a claim and loses the answer', { kind: 'apply-then-reject' }],
    ['never answers a claim', { kind: 'hang' }],
    ['applies a claim and never answers', { kind: 'apply-then-hang' }],
    ['applies a claim after its deadline', { kind: 'apply-late', afterMs: 600 }],
    ['answers a claim after its deadline', { kind: 'reply-late', afterMs: 600 }],
  ])('and %s lets nothing run, and the key is free again soon', async (_, fault) => {
    const { ask, store, runs, retryUntil } = await setup();
    store.inject('claim', fault);
    expectUnavailable(await ask({ key: 'k' }));
    expect(runs()).toBe(0);
    expect((await retryUntil(201)).body).toBe('made 1');
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect((await retryUntil(201)).body).toBe('made 1');
    expect(runs()).toBe(1);
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['an unknown kind', { kind: 'fresh', attempt: 1 }],
  ])(
    'and answers a claim with %s is an error that names it, and nothing runs',
    async (_, value) => {
      const { ask, store, runs } = await setup();
      store.inject('claim', { kind: 'answer', value });
      const answered = await ask({ key: 'k' });
      expect(answered.status).toBe(500);
      expect(answered.body).toContain('from FaultyStore');
      expect(runs()).toBe(0);
    },
  );

  test.each([
    ['a status that is none', { status: 99 }],
    ['a status of 1000', { status: 1000 }],
    ['a header name that is none', { headers: [['a b', '1']] }],
    ['a header value with a line break', { headers: [['a', '1\r\nSet-Cookie: x=1']] }],
    ['a header value that is no string', { headers: [['a', 1]] }],
    ['a reason phrase with a line break', { reason: 'OK\r\nX: 1' }],
    ['a removed name that is none', { removedNames: [7] }],
  ])(
    'and replays %s is an error 500, without a header of it and without a run',
    async (_, part) => {
      const { ask, store, runs } = await setup();
      const whole = {
        kept: true,
        status: 200,
        headers: [['X-Saved', '1']],
        removedNames: [],
        body: Buffer.from('b'),
      };
      store.inject('claim', {
        kind: 'answer',
        value: { kind: 'replay', response: { ...whole, ...part } },
      });
      const answered = await ask({ key: 'k' });
      expect(answered.status).toBe(500);
      expect(answered.body).toContain('FaultyStore');
      expect(answered.lines.join()).not.toContain('X-Saved');
      expect(runs()).toBe(0);
    },
  );

  test('and cannot read a record is an error 500, and the record is kept', async () => {
    const { ask, store, runs } = await setup();
    const error = new IdempotencyError('record_corrupt', 'The saved response cannot be read.');
    store.inject('claim', { kind: 'reject', error });
    const answered = await ask({ key: 'k' });
    expect(answered.status).toBe(500);
    expect(answered.body).toContain('cannot be read');
    expect([runs(), store.history.methods]).toEqual([0, ['claim']]);
  });

  test.each<[string, StoreFault]>([
    ['rejects a save', { kind: 'reject' }],
    ['saves and loses the answer', { kind: 'apply-then-reject' }],
    ['never answers a save', { kind: 'hang' }],
    ['saves and never answers', { kind: 'apply-then-hang' }],
    ['saves after the deadline', { kind: 'apply-late', afterMs: 450 }],
  ])('and %s once delays the answer, and changes nothing of it', async (_, fault) => {
    const { ask, store, runs } = await setup({ saveTimeoutMs: 20_000 });
    store.inject('complete', fault);
    const first = await ask({ key: 'k' });
    expect([first.status, first.body]).toEqual([201, 'made 1']);
    expect((await ask({ key: 'k' })).body).toBe('made 1');
    expect(runs()).toBe(1);
  });

  test.each<[string, StoreFault]>([
    ['rejects every save', { kind: 'reject' }],
    ['never answers a save', { kind: 'hang' }],
  ])('and %s never lets a success leave that could not be replayed', async (_, fault) => {
    const { ask, store, runs, retryUntil } = await setup();
    store.inject('complete', fault, ALWAYS);
    const first = await ask({ key: 'k' });
    expect([first.status, first.body]).toEqual([503, '{"error":"outcome_not_saved"}']);
    expect(valuesOf(first, 'Retry-After')).toEqual(['2']);
    expect(valuesOf(first, 'X-Label')).toEqual([]);
    expect((await ask({ key: 'k' })).body).toBe('{"error":"request_pending"}');
    store.heal();
    expect((await retryUntil(201)).body).toBe('made 1');
    expect(runs()).toBe(1);
  });

  test('and says that another owns the record sends what the record says', async () => {
    const { ask, store, runs } = await setup();
    store.inject('complete', { kind: 'reject', error: new FencedError() });
    const first = await ask({ key: 'k' });
    expect([first.status, first.body]).toEqual([409, '{"error":"request_pending"}']);
    expect(valuesOf(first, 'X-Label')).toEqual([]);
    store.inject('complete', { kind: 'apply-then-reject', error: new FencedError() });
    expect((await ask({ key: 'other' })).body).toBe('made 2');
    expect(runs()).toBe(2);
  });

  test.each<[string, StoreFault]>([
    ['rejects a release', { kind: 'reject' }],
    ['releases and loses the answer', { kind: 'apply-then-reject' }],
    ['never answers a release', { kind: 'hang' }],
    ['releases after the deadline', { kind: 'apply-late', afterMs: 450 }],
  ])('and %s delays the refusal at most, and the key is free again soon', async (_, fault) => {
    let admission: 0 | 429 = 429;
    const { ask, store, runs, retryUntil } = await setup({ admit: () => admission });
    store.inject('release', fault);
    const refused = await ask({ key: 'k' });
    expect([refused.status, refused.body]).toEqual([429, '{"error":"not_admitted"}']);
    admission = 0;
    expect((await retryUntil(201)).body).toBe('made 1');
    expect(runs()).toBe(1);
  });

  test('and an admit that is late are a refusal with 503, for good', async () => {
    let say: (answer: 0) => void = () => {};
    const admit = () =>
      new Promise<0>((resolve) => {
        say = resolve;
      });
    const { ask, store, runs } = await setup({ admit });
    const answered = await ask({ key: 'k' });
    expect([answered.status, answered.body]).toEqual([503, '{"error":"not_admitted"}']);
    say(0);
    await until(() => store.history.methods.includes('release'));
    expect(runs()).toBe(0);
  });

  test('and was sent a claim twice has one reservation for it', async () => {
    const { ask, store, runs } = await setup();
    const twice = store.claim.bind(store);
    store.claim = async (...claim) => {
      await twice(...claim);
      return twice(...claim);
    };
    expect((await ask({ key: 'k' })).status).toBe(201);
    expect(runs()).toBe(1);
  });
});
