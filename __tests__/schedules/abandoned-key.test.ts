import { background } from '../../src/core/background.ts';
import { AbandonedKey, type Scope } from './abandoned-key.ts';
import { Blind, Database, Provider, Resource } from './downstreams.ts';
import { explore } from './explore.ts';

const MODES = {
  keyed: () => new Provider(),
  sealed: () => new Resource(),
  transactional: (records) => new Database(records),
  unknown: () => new Blind(),
} satisfies { readonly [mode: string]: Scope['makeDownstream'] };

type Mode = keyof typeof MODES;

describe('every order of what requests do whose lease may end at any moment', () => {
  const explored: string[] = [];
  afterAll(() => {
    process.stdout.write(`${explored.join('\n')}\n`);
  });

  function setup(mode: Mode, scope: Partial<Scope>) {
    const calm = {
      admissions: [0, 0],
      faults: 0,
      crashes: 0,
      expiries: 1,
      earlyTimers: 0,
    } as const;
    return () => {
      Object.assign(background(), { unsavedBytes: 0, unacknowledgedReleases: 0 });
      return new AbandonedKey({ ...calm, makeDownstream: MODES[mode], ...scope });
    };
  }

  const ONE_REFUSED = [0, 429] as const;
  const SCOPES: readonly (readonly [string, Partial<Scope>, Readonly<Record<Mode, number>>])[] = [
    [
      'two requests, a lease that ends',
      {},
      { keyed: 350, sealed: 330, transactional: 260, unknown: 220 },
    ],
    [
      'two requests, two leases that end, a crash',
      { expiries: 2, crashes: 1 },
      { keyed: 1_950, sealed: 1_750, transactional: 2_350, unknown: 1_050 },
    ],
    [
      'two requests, two leases that end, two crashes',
      { expiries: 2, crashes: 2 },
      { keyed: 2_800, sealed: 2_500, transactional: 3_350, unknown: 1_550 },
    ],
    [
      'two requests, a lease that ends, a fault',
      { faults: 1 },
      { keyed: 1_100, sealed: 1_150, transactional: 1_150, unknown: 800 },
    ],
    [
      'two requests, a lease that ends, a fault, a crash',
      { faults: 1, crashes: 1 },
      { keyed: 3_000, sealed: 3_250, transactional: 3_550, unknown: 2_150 },
    ],
    [
      'two requests, one refused, two leases that end, a fault',
      { admissions: ONE_REFUSED, expiries: 2, faults: 1 },
      { keyed: 900, sealed: 1_400, transactional: 1_300, unknown: 950 },
    ],
    [
      'two requests, a lease that ends, a timer early',
      { earlyTimers: 1 },
      { keyed: 2_800, sealed: 2_900, transactional: 5_300, unknown: 2_200 },
    ],
    [
      'three requests, one refused, a lease that ends',
      { admissions: [0, 429, 0] },
      { keyed: 7_200, sealed: 7_500, transactional: 4_100, unknown: 4_200 },
    ],
  ];
  const EACH = SCOPES.flatMap(([name, scope, least]) =>
    (Object.keys(MODES) as Mode[]).map((mode) => ({ mode, name, scope, least: least[mode] })),
  );

  test.each(EACH)(
    'does the action at most once, tells one result and leaves no key: $mode, $name',
    async ({ mode, name, scope, least }) => {
      const { runs, states } = await explore(setup(mode, scope));
      explored.push(`${mode}, ${name}: ${states} states, ${runs} runs`);
      expect(states).toBeGreaterThanOrEqual(least);
    },
    120_000,
  );

  const TWICE = 'The action was done twice.';

  test('finds a store in which the end of a lease frees the key', async () => {
    const change: Scope['change'] = (store, { forget }) => ({
      claim: async (...claim) => {
        const answer = await store.claim(...claim);
        if (answer.kind !== 'pending' || answer.leaseOver !== true) return answer;
        forget();
        return store.claim(...claim);
      },
    });
    await expect(explore(setup('unknown', { change }))).rejects.toThrow(TWICE);
  });

  test('finds a look-up without a seal', async () => {
    const makeDownstream = () => new Resource({ isSealing: false });
    await expect(explore(setup('sealed', { makeDownstream }))).rejects.toThrow(TWICE);
  });

  test('finds a store that completes for whoever asks', async () => {
    const change: Scope['change'] = (store) => ({
      complete: async (key, response, context, call) => {
        const { owner = context.owner } = (await store.inspect(key)) ?? {};
        const other = Object.create(context, { owner: { value: owner } });
        await store.complete(key, response, other, call);
      },
    });
    const found = explore(setup('unknown', { change }));
    await expect(found).rejects.toThrow('Two clients were told two results.');
  });

  test('finds a transaction that commits whoever owns the record', async () => {
    const makeDownstream: Scope['makeDownstream'] = (records) =>
      new Database(records, { isGuarded: false });
    await expect(explore(setup('transactional', { makeDownstream }))).rejects.toThrow(TWICE);
  });

  test('finds a release that removes a record which was taken over', async () => {
    const change: Scope['change'] = (store, { forget }) => ({
      release: async (key, context, call) => {
        const found = await store.inspect(key);
        if (found?.owner === context.owner && found.state === 'pending') forget();
        else await store.release(key, context, call);
      },
    });
    const scope = { admissions: [0, 0, 0], faults: 1, change } as const;
    await expect(explore(setup('sealed', scope))).rejects.toThrow(TWICE);
  }, 60_000);

  test('finds a takeover that two can make', async () => {
    const change: Scope['change'] = (store) => ({
      takeOver: async (...taking) => {
        const answer = await store.takeOver(...taking);
        return answer.kind === 'taken' ? answer : { kind: 'taken', attempt: 2 };
      },
    });
    const found = explore(setup('sealed', { admissions: [0, 0, 0], change }));
    await expect(found).rejects.toThrow(TWICE);
  }, 60_000);
});
