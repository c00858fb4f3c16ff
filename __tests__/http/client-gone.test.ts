import { setTimeout as wait } from 'node:timers/promises';
import { type Attempt, idempotent, MemoryStore } from '../../src/index.ts';
import { FaultyStore } from '../../src/testing/index.ts';
import { EXPRESS_VERSIONS } from './express-versions.ts';
import { gate, until } from './gate.ts';
import { type Served, serve } from './served.ts';

describe.each(EXPRESS_VERSIONS)('a client that leaves under %s', (_, express) => {
  const served: Served[] = [];
  afterEach(async () => {
    for (const each of served.splice(0)) await each[Symbol.asyncDispose]();
  });

  async function setup() {
    const store = new FaultyStore(new MemoryStore());
    const before = gate();
    const admission = gate();
    const handler = gate();
    const seen: Attempt[] = [];
    let entered = 0;
    let runs = 0;
    const app = express();
    app.use(async (_req, _res, next) => {
      entered += 1;
      await before.opened;
      next();
    });
    const admit = async (attempt: Attempt) => {
      seen.push(attempt);
      await admission.opened;
      return 0 as const;
    };
    app.post('/labels', idempotent(store, { admit }), async (req, res) => {
      runs += 1;
      if (req.idempotency !== seen[0]) throw new Error('Another context.');
      await handler.opened;
      res.status(201).send('made');
    });
    const server = await serve(app);
    served.push(server);
    const leave = async (when: () => boolean): Promise<void> => {
      const aborter = new AbortController();
      const asked = server.ask({ key: 'k', signal: aborter.signal }).catch(() => 'left');
      await until(when);
      aborter.abort();
      expect(await asked).toBe('left');
      await wait(20);
    };
    const openAll = () => {
      for (const each of [before, admission, handler]) each.open();
    };
    return {
      ...server,
      store,
      before,
      admission,
      handler,
      seen,
      leave,
      openAll,
      entered: () => entered,
      runs: () => runs,
    };
  }

  test('before the claim leaves nothing behind', async () => {
    const { leave, openAll, entered, store, runs, ask } = await setup();
    await leave(() => entered() === 1);
    openAll();
    await wait(20);
    expect(store.history.methods).toEqual([]);
    expect((await ask({ key: 'k' })).body).toBe('made');
    expect(runs()).toBe(1);
  });

  test('during admission does not stop the action, and the retry is given its result', async () => {
    const { leave, before, openAll, seen, runs, ask, store } = await setup();
    before.open();
    await leave(() => seen.length === 1);
    expect(seen[0]?.signal.aborted).toBe(true);
    openAll();
    await until(() => store.history.methods.includes('complete'));
    expect((await ask({ key: 'k' })).body).toBe('made');
    expect(runs()).toBe(1);
  });

  test('during the handler does not stop it, and the retry is given the result', async () => {
    const { leave, before, admission, openAll, seen, runs, ask, store } = await setup();
    before.open();
    admission.open();
    const isRunning = () => {
      if (runs() === 1) expect(seen[0]?.signal.aborted).toBe(false);
      return runs() === 1;
    };
    await leave(isRunning);
    await until(() => seen[0]?.signal.aborted === true);
    openAll();
    await until(() => store.history.methods.includes('complete'));
    expect((await ask({ key: 'k' })).body).toBe('made');
    expect(runs()).toBe(1);
  });

  test('while the answer is being saved does not stop that', async () => {
    const { leave, openAll, store, runs, ask } = await setup();
    store.inject('complete', { kind: 'reply-late' });
    openAll();
    await leave(() => store.history.methods.includes('complete'));
    await store.letGo();
    expect((await ask({ key: 'k' })).body).toBe('made');
    expect(runs()).toBe(1);
  });

  test('is told by the signal of the attempt, and only when it left', async () => {
    const { openAll, seen, ask } = await setup();
    openAll();
    const asked = ask({ key: 'k' });
    await until(() => seen.length === 1);
    const signal = seen[0]?.signal as AbortSignal;
    await asked;
    await wait(20);
    expect(signal.aborted).toBe(false);
  });
});
