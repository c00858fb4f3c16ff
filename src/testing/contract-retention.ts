import assert from 'node:assert/strict';
import {
  type ContractClock,
  contractCase,
  type MakeStore,
  type StoreContractCase,
} from './contract-case.ts';
import { anyResponse, assertRejects, Scene } from './contract-scene.ts';

const HOUR_MS = 3_600_000;
const RESULT_MS = 24 * HOUR_MS;
const TOMBSTONE_MS = 30 * 24 * HOUR_MS;
const TEN_YEARS_MS = 3_650 * 24 * HOUR_MS;

/** How long what is finished is kept, and that nothing else ever ends. Defaults of retention. */
export const RETENTION_RULES: readonly StoreContractCase[] = [
  contractCase('a pending key is pending for ever', [], async (makeStore, clock) => {
    const scene = new Scene(await makeStore());
    await scene.expectNew('A');
    await clock.advance(TEN_YEARS_MS);
    await scene.expectKind('pending', 'B');
    await scene.expectConflict('B');
    await scene.expectNew('A');
    await scene.complete('A', anyResponse());
    await scene.expectReplay(anyResponse(), 'B');
  }),

  contractCase(
    'a result never becomes new or pending within its 24 hours',
    [],
    async (makeStore, clock) => {
      const scene = new Scene(await makeStore());
      await scene.finish('A', anyResponse());
      await clock.advance(RESULT_MS - 1);
      await scene.expectReplay(anyResponse(), 'B');
    },
  ),

  contractCase(
    'prune changes no pending record, however old',
    ['prune'],
    async (makeStore, clock) => {
      const scene = new Scene(await makeStore());
      for (const key of ['one', 'two']) await scene.expectNew('A', { key });
      await clock.advance(TEN_YEARS_MS);
      assert.equal(await scene.store.prune?.(), 0);
      for (const key of ['one', 'two']) await scene.expectKind('pending', 'B', { key });
    },
  ),

  contractCase(
    'after 24 hours a result is expired, pruned or not',
    [],
    async (makeStore, clock) => {
      await forPrunedAndNot(makeStore, async (prune) => {
        const scene = new Scene(await makeStore());
        const key = `pruned: ${prune}`;
        await scene.finish('A', anyResponse(), { key });
        await clock.advance(RESULT_MS);
        if (prune) assert.ok((await pruneAll(scene)) > 0, 'nothing was pruned');
        await scene.expectKind('expired', 'B', { key });
        await scene.expectKind('expired', 'A', { key });
        await scene.expectConflict('B', { key });
        await clock.advance(TOMBSTONE_MS - 1);
        await scene.expectKind('expired', 'B', { key });
      });
    },
  ),

  contractCase(
    'after 30 more days a key is new again, pruned or not',
    [],
    async (makeStore, clock) => {
      await forPrunedAndNot(makeStore, async (prune) => {
        const scene = new Scene(await makeStore());
        const key = `pruned: ${prune}`;
        await scene.finish('A', anyResponse(), { key });
        await clock.advance(RESULT_MS + TOMBSTONE_MS);
        if (prune) await pruneAll(scene);
        await scene.expectNew('B', { key, fingerprint: 'another' });
        await scene.complete('B', anyResponse('of B'), { key });
        await scene.expectReplay(anyResponse('of B'), 'C', { key, fingerprint: 'another' });
      });
    },
  ),

  contractCase(
    'a tombstone knows its owner, and takes no other response',
    [],
    async (makeStore, clock) => {
      await forPrunedAndNot(makeStore, async (prune) => {
        const scene = new Scene(await makeStore());
        const key = `pruned: ${prune}`;
        await scene.finish('A', anyResponse(), { key });
        await clock.advance(RESULT_MS);
        if (prune) await pruneAll(scene);
        await scene.complete('A', anyResponse('again'), { key });
        await assertRejects(scene.complete('B', anyResponse(), { key }), 'fenced');
        await scene.release('A', { key });
        await scene.expectKind('expired', 'B', { key });
      });
    },
  ),

  contractCase(
    'a clock that is set back brings no pruned result back as new',
    ['prune'],
    async (makeStore, clock) => {
      const scene = new Scene(await makeStore());
      await scene.finish('A', anyResponse());
      await clock.advance(RESULT_MS);
      await pruneAll(scene);
      await clock.advance(-RESULT_MS);
      await scene.expectKind('expired', 'B');
    },
  ),

  contractCase(
    'prune keeps to its limit, and goes on where it was',
    ['prune'],
    async (makeStore, clock) => {
      const scene = new Scene(await makeStore());
      await finishMany(scene, 10, clock);
      await clock.advance(RESULT_MS);
      assert.equal(await scene.store.prune?.({ limit: 4 }), 4);
      assert.equal(await scene.store.prune?.({ limit: 4 }), 4);
      assert.equal(await scene.store.prune?.({ signal: AbortSignal.abort() }), 0);
      assert.equal(await scene.store.prune?.({ limit: 4 }), 2);
      assert.equal(await scene.store.prune?.({ limit: 4 }), 0);
      for (let n = 0; n < 10; n += 1) await scene.expectKind('expired', 'B', { key: `key ${n}` });
    },
  ),
];

/** A store without `prune` ends what it keeps by itself: there only the first half is checked. */
async function forPrunedAndNot(
  makeStore: MakeStore,
  check: (prune: boolean) => Promise<void>,
): Promise<void> {
  await check(false);
  if ((await makeStore()).prune !== undefined) await check(true);
}

/** Answers how many records were changed in all. */
async function pruneAll(scene: Scene): Promise<number> {
  let changed = 0;
  for (;;) {
    const more = (await scene.store.prune?.()) ?? 0;
    if (more === 0) return changed;
    changed += more;
  }
}

async function finishMany(scene: Scene, count: number, clock: ContractClock): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    await scene.finish('A', anyResponse(), { key: `key ${n}` });
    await clock.advance(1);
  }
}
