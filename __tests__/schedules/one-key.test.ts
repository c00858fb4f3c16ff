import { background } from '../../src/core/background.ts';
import type { IdempotencyStore } from '../../src/core/store.ts';
import { MemoryStore } from '../../src/stores/memory.ts';
import { explore } from './explore.ts';
import { OneKey, type Scope } from './one-key.ts';

describe('every order in which the calls of requests with one key can reach the store', () => {
  function setup(scope: Partial<Scope>) {
    const whole = { admissions: [0, 0] as const, faults: 0, crashes: 0, earlyTimers: 0, ...scope };
    return () => {
      Object.assign(background(), { unsavedBytes: 0, unacknowledgedReleases: 0 });
      return new OneKey(whole);
    };
  }

  test.each<[string, Partial<Scope>, number]>([
    ['two requests', {}, 25],
    ['two requests, one refused', { admissions: [429, 0] }, 30],
    ['three requests, one refused', { admissions: [429, 0, 0] }, 300],
    ['two requests, one fault', { faults: 1 }, 250],
    ['two requests, two faults, one refused', { admissions: [429, 0], faults: 2 }, 950],
    ['two requests, one crash', { crashes: 1 }, 110],
    ['two requests, one timer early', { earlyTimers: 1 }, 2_200],
    ['two requests, a fault and a timer early', { faults: 1, earlyTimers: 1 }, 9_000],
    ['three requests, one refused, one fault', { admissions: [429, 0, 0], faults: 1 }, 4_500],
  ])(
    'does the action at most once and tells one result: %s',
    async (_, scope, leastStates) => {
      const { states } = await explore(setup(scope));
      expect(states).toBeGreaterThanOrEqual(leastStates);
    },
    60_000,
  );

  const faulty = (change: (store: IdempotencyStore) => Partial<IdempotencyStore>) => () => {
    const store: IdempotencyStore = new MemoryStore({ now: () => 0 });
    return {
      claim: store.claim.bind(store),
      complete: store.complete.bind(store),
      release: store.release.bind(store),
      ...change(store),
    };
  };

  test('finds a store whose release looks at no owner', async () => {
    let holder: Parameters<IdempotencyStore['release']>[1] | undefined;
    const makeStore = faulty((store) => ({
      claim: async (...claim) => {
        const answer = await store.claim(...claim);
        if (answer.kind === 'new') holder = claim[2];
        return answer;
      },
      release: async (key, _context, call) => {
        if (holder !== undefined) await store.release(key, holder, call);
      },
    }));
    const scope = { admissions: [429, 0, 0] as const, faults: 1, makeStore };
    await expect(explore(setup(scope))).rejects.toThrow('The action was done twice.');
  }, 60_000);

  test('finds a store that saves nothing', async () => {
    const makeStore = faulty(() => ({ complete: async () => {} }));
    await expect(explore(setup({ makeStore }))).rejects.toThrow('not saved');
  });

  test('finds a store whose records belong to nobody who asks', async () => {
    const makeStore = faulty((store) => ({
      claim: (key, fingerprint, context, call) => {
        const other = Object.create(context, { owner: { value: `${context.owner}'` } });
        return store.claim(key, fingerprint, other, call);
      },
    }));
    await expect(explore(setup({ makeStore }))).rejects.toThrow('The key is stuck.');
  });
});
