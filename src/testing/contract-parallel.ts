import assert from 'node:assert/strict';
import { contractCase, type MakeStore, type StoreContractCase } from './contract-case.ts';
import { anyResponse, Scene } from './contract-scene.ts';
import { FaultyStore } from './faulty-store.ts';
import { checkHistory } from './history-check.ts';
import { StoreHistory } from './store-history.ts';

const KEYS = 60;
const CLAIMS_A_KEY = 32;

/** Of any number of simultaneous calls, one wins. */
export const PARALLEL_RULES: readonly StoreContractCase[] = [
  contractCase(
    'of 32 parallel claims of each of 60 keys, over 2 connections, one is new',
    [],
    async (makeStore) => {
      const scenes = [new Scene(await makeStore()), new Scene(await makeStore())] as const;
      const kinds = await Promise.all(
        Array.from({ length: KEYS }, (_, n) => claimInParallel(scenes, `key ${n}`)),
      );
      for (const ofOneKey of kinds) {
        assert.equal(ofOneKey.filter((kind) => kind === 'new').length, 1);
        assert.equal(ofOneKey.filter((kind) => kind === 'pending').length, CLAIMS_A_KEY - 1);
      }
    },
  ),

  contractCase(
    'of 32 parallel claims of a key whose tombstone has ended, one is new',
    [],
    async (makeStore, clock) => {
      const scenes = [new Scene(await makeStore()), new Scene(await makeStore())] as const;
      for (let n = 0; n < 10; n += 1)
        await scenes[0].finish('A', anyResponse(), { key: `key ${n}` });
      await clock.advance(1_000 * 24 * 3_600_000);
      for (let n = 0; n < 10; n += 1) {
        const kinds = await claimInParallel(scenes, `key ${n}`);
        assert.equal(kinds.filter((kind) => kind === 'new').length, 1);
      }
    },
  ),

  contractCase('of two parallel completes of one owner the first stays', [], async (makeStore) => {
    const [one, two] = [new Scene(await makeStore()), new Scene(await makeStore())];
    for (let n = 0; n < 20; n += 1) {
      const key = `key ${n}`;
      await one.expectNew('A', { key });
      await Promise.all([
        one.complete('A', anyResponse('same'), { key }),
        two.complete('A', anyResponse('same'), { key }),
      ]);
      await one.expectReplay(anyResponse('same'), 'B', { key });
    }
  }),

  contractCase(
    'calls of many owners in any order never contradict each other',
    [],
    async (makeStore) => {
      const history = new StoreHistory();
      const stores = await Promise.all([1, 2].map(() => faultyStore(makeStore, history)));
      const random = seeded(20_260_401);
      for (let round = 0; round < 12; round += 1) {
        await Promise.all(
          Array.from({ length: 5 }, (_, n) => {
            const store = stores[n % 2];
            assert.ok(store);
            return callAtRandom(
              new Scene(store),
              `owner ${round}/${n}`,
              `key ${round % 3}`,
              random,
            );
          }),
        );
      }
      checkHistory(history.events);
    },
  ),
];

async function claimInParallel(scenes: readonly [Scene, Scene], key: string): Promise<string[]> {
  const claims = Array.from({ length: CLAIMS_A_KEY }, (_, n) =>
    (n % 2 === 0 ? scenes[0] : scenes[1]).claim(`owner ${n}`, { key }),
  );
  return (await Promise.all(claims)).map((claim) => claim.kind);
}

async function faultyStore(makeStore: MakeStore, history: StoreHistory): Promise<FaultyStore> {
  return new FaultyStore(await makeStore(), { history });
}

/** One owner's life: it claims, and if it is new completes or releases, now and then twice. */
async function callAtRandom(
  scene: Scene,
  owner: string,
  key: string,
  random: () => number,
): Promise<void> {
  const store = scene.store as FaultyStore;
  if (random() < 0.2) store.inject('claim', { kind: 'apply-then-reject' });
  let claim = await scene.claim(owner, { key }).catch(() => undefined);
  claim ??= await scene.claim(owner, { key }).catch(() => undefined);
  if (claim?.kind !== 'new') return;
  if (random() < 0.2) store.inject('release', { kind: 'apply-then-reject' });
  if (random() < 0.7) {
    await scene.release(owner, { key }).catch(() => scene.release(owner, { key }));
  } else {
    await scene.complete(owner, anyResponse(owner), { key });
    await scene.release(owner, { key }).catch(() => undefined);
  }
}

/** Random numbers from 0 to 1 that are the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
