import type { ErrorRequestHandler, RequestHandler } from 'express';
import {
  blind,
  done,
  idempotent,
  keyed,
  MemoryStore,
  ROLLED_BACK,
  transactional,
} from '../../src/index.ts';
import { HANGS, PlannedCalls, rejects } from '../core/planned-calls.ts';
import { FakeDatabase, plannedStore } from '../core/planned-store.ts';
import { EXPRESS_VERSIONS } from '../http/express-versions.ts';
import { withoutDate } from '../http/served.ts';
import { endAll, PENDING, said, served } from './recovery-app.ts';

describe.each(EXPRESS_VERSIONS)('a handler in a transaction, under %s', (_, framework) => {
  afterEach(endAll);

  async function setup(handler: RequestHandler, onError?: ErrorRequestHandler) {
    const calls = new PlannedCalls();
    const memory = new MemoryStore();
    const database = new FakeDatabase(memory, calls);
    const mode = transactional(database);
    const app = framework().set('env', 'test').set('x-powered-by', false);
    const options = { recovery: mode, storeTimeoutMs: 300, maxResponseBytes: 1_000 };
    app.post('/labels', idempotent(plannedStore(memory, calls), options), (req, res, next) => {
      mode.tx(req).write('label');
      return handler(req, res, next);
    });
    if (onError !== undefined) app.use(onError);
    const server = await served(app);
    const ask = () => server.ask({ key: 'k' }).then(withoutDate);
    return { ask, calls, database };
  }

  const made: RequestHandler = (_req, res) => {
    res.append('ETag', '"a"').append('ETag', '"b"').status(201).json({ made: true });
  };

  test('commits its writes with its answer before the first byte, and is replayed', async () => {
    const { ask, calls, database } = await setup(made);
    const first = await ask();
    expect(said(first)).toEqual([201, '{"made":true}']);
    expect(await ask()).toEqual(first);
    expect(database.rows).toEqual(['label']);
    expect(calls.toString()).toBe('claim begin write completeIn commit claim');
  });

  test.each<[string, RequestHandler]>([
    [
      'throws',
      () => {
        throw new Error('constraint');
      },
    ],
    ['passes an error on', (_req, _res, next) => next(new Error('constraint'))],
    ['answers 503', (_req, res) => void res.status(503).send('constraint')],
    ['answers 500 at length', (_req, res) => void res.status(500).send('constraint'.repeat(500))],
  ])(
    'that %s has written nothing, and its key is free before the error leaves',
    async (_, fail) => {
      let isFirst = true;
      const { ask, calls, database } = await setup((...handled) => {
        const handler = isFirst ? fail : made;
        isFirst = false;
        return handler(...handled);
      });
      const failed = await ask();
      expect(failed.status).toBeGreaterThanOrEqual(500);
      expect(failed.body).toContain('constraint');
      expect(calls.toString()).toBe('claim begin write rollback release');
      expect(said(await ask())).toEqual([201, '{"made":true}']);
      expect(database.rows).toEqual(['label']);
    },
  );

  test('whose answer is too large has written nothing, and says so', async () => {
    const { ask, calls, database } = await setup((_req, res) => void res.send('x'.repeat(1_001)));
    const failed = await ask();
    expect(failed.status).toBe(500);
    expect(failed.body).toContain('nothing was committed');
    expect(failed.body).not.toContain('xxx');
    expect(calls.toString()).toBe('claim begin write rollback release');
    expect([database.rows, database.open]).toEqual([[], 0]);
  });

  test('whose commit was undone by the database passes that error on, and may be tried again', async () => {
    const seen: unknown[] = [];
    const { ask, calls } = await setup(made, (error, _req, res, _next) => {
      seen.push(error);
      res.status(503).send('serialization failure');
    });
    const error = Object.assign(new Error('40001'), { [ROLLED_BACK]: true });
    calls.plan('commit', rejects(error));
    expect(said(await ask())).toEqual([503, 'serialization failure']);
    expect(seen).toEqual([error]);
    expect(said(await ask())).toEqual([201, '{"made":true}']);
  });

  test('whose commit nobody can tell of is answered 503, and stays pending', async () => {
    const { ask, calls, database } = await setup(made);
    calls.plan('commit', rejects());
    expect(said(await ask())).toEqual([503, '{"error":"outcome_not_saved"}']);
    expect(said(await ask())).toEqual(PENDING);
    expect(database.rows).toEqual([]);
  });

  test('whose commit took effect although its reply was lost is answered as ever', async () => {
    const { ask, calls, database } = await setup(made);
    calls.plan('commit', async (apply) => {
      await apply();
      throw new Error('reply lost');
    });
    expect(said(await ask())).toEqual([201, '{"made":true}']);
    expect(database.rows).toEqual(['label']);
  });

  test.each([
    ['is refused', rejects()],
    ['does not come in time', HANGS],
  ])('does not run when its transaction %s', async (_, plan) => {
    const { ask, calls, database } = await setup(made);
    calls.plan('begin', plan);
    expect(said(await ask())).toEqual([503, '{"error":"store_unavailable"}']);
    expect(calls.toString()).toBe('claim begin release');
    expect(said(await ask())).toEqual([201, '{"made":true}']);
    expect(database.rows).toEqual(['label']);
  });

  test('that settles commits, or is told what undid it', async () => {
    const words: unknown[] = [];
    const { ask, calls, database } = await setup((req, _res, next) => {
      const settled = req.idempotency?.settle(done({ status: 201, body: 'made' }));
      settled?.then((word) => words.push(word), next);
    });
    calls.plan('completeIn', rejects(new Error('constraint')));
    const failed = await ask();
    expect(failed.status).toBe(500);
    expect(failed.body).toContain('constraint');
    expect([words, database.rows]).toEqual([[], []]);
    expect(said(await ask())).toEqual([201, 'made']);
    expect([words, database.rows]).toEqual([['saved'], ['label']]);
  });

  test('has no transaction any more once it has answered', async () => {
    const codes: unknown[] = [];
    const { ask } = await setup((req, res) => {
      res.status(201).json({ made: true });
      try {
        codes.push(req.idempotency?.tx);
      } catch (error) {
        codes.push((error as { code?: unknown }).code);
      }
    });
    expect(said(await ask())).toEqual([201, '{"made":true}']);
    expect(codes).toEqual(['transaction_over']);
  });

  test('that destroys its answer has written nothing, and its key is free', async () => {
    const { ask, calls } = await setup((_req, res) => void res.destroy());
    await expect(ask()).rejects.toThrow();
    await expect(ask()).rejects.toThrow();
    expect(calls.toString()).toContain('claim begin write rollback release claim begin');
  });
});

test.each<[string, unknown, string]>([
  ['no store of its own transactions', transactional(), 'recovery_unsupported'],
  ['a store that renews nothing', keyed({ rerunWithinMs: 70_000 }), 'recovery_unsupported'],
  ['a store that takes nothing over', blind({ onAbandoned: 'unknown' }), 'recovery_unsupported'],
  ['null in place of a mode', null, 'option_invalid'],
  ['the name of a mode', 'keyed', 'option_invalid'],
])('a middleware is not built with %s', (_, recovery, code) => {
  const { claim, complete, release } = new MemoryStore();
  const bare = { claim, complete, release };
  const error = expect.objectContaining({ code });
  expect(() => idempotent(bare, { recovery: recovery as never })).toThrow(error);
  expect(() => idempotent(bare, { recovery: blind() })).not.toThrow();
});
