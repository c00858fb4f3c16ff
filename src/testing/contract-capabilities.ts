import assert from 'node:assert/strict';
import type { ListOptions, RecordView } from '../core/store.ts';
import { contractCase, type StoreContractCase } from './contract-case.ts';
import { anyResponse, assertSameResponse, Scene } from './contract-scene.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What `inspect` and `list` show, where they are offered. */
export const CAPABILITY_RULES: readonly StoreContractCase[] = [
  contractCase(
    'inspect finds nothing where nothing is, and makes no reservation',
    ['inspect'],
    async (makeStore) => {
      const scene = new Scene(await makeStore());
      assert.equal(await scene.store.inspect?.('k'), undefined);
      await scene.expectNew('A');
      await scene.release('A');
      assert.equal(await scene.store.inspect?.('k'), undefined);
    },
  ),

  contractCase(
    'inspect shows a record in each of its states',
    ['inspect'],
    async (makeStore, clock) => {
      const scene = new Scene(await makeStore());
      const createdAtMs = clock.now();
      await scene.expectNew('A');
      const pending = await inspect(scene);
      const record = { fingerprint: 'f', owner: 'A', attempt: 1, createdAtMs };
      assertView(pending, { ...record, state: 'pending', completedAtMs: undefined });
      await clock.advance(1_000);
      await scene.complete('A', anyResponse());
      const completedAtMs = createdAtMs + 1_000;
      const completed = await inspect(scene);
      assertView(completed, { ...record, state: 'completed', completedAtMs });
      assert.ok(completed.response);
      assertSameResponse(completed.response, anyResponse());
      await clock.advance(DAY_MS);
      for (const prune of [false, true]) {
        if (prune) await scene.store.prune?.();
        const tombstone = await inspect(scene);
        assertView(tombstone, { ...record, state: 'tombstone', completedAtMs });
        assert.equal(tombstone.response, undefined);
      }
      await clock.advance(30 * DAY_MS);
      assert.equal(await scene.store.inspect?.('k'), undefined);
    },
  ),

  contractCase(
    'what inspect shows can be changed without changing the record',
    ['inspect'],
    async (makeStore) => {
      const scene = new Scene(await makeStore());
      await scene.finish('A', anyResponse());
      const view = await inspect(scene);
      Object.assign(view, { owner: 'B', fingerprint: 'other' });
      if (view.response?.kept) view.response.body.fill(0);
      await scene.expectReplay(anyResponse(), 'B');
      await scene.complete('A', anyResponse());
    },
  ),

  contractCase(
    'list shows what is pending, oldest first, page by page',
    ['list'],
    async (makeStore, clock) => {
      const scene = new Scene(await makeStore());
      for (let n = 0; n < 5; n += 1) {
        await scene.expectNew('A', { key: `pending ${n}` });
        await scene.finish('A', anyResponse(), { key: `completed ${n}` });
        await clock.advance(HOUR_MS);
      }
      const pending = Array.from({ length: 5 }, (_, n) => `pending ${n}`);
      assert.deepEqual(await listAll(scene, { state: 'pending', limit: 2 }), pending);
      assert.deepEqual(await listAll(scene, { state: 'pending', limit: 5 }), pending);
      const old = { state: 'pending', olderThanMs: 3 * HOUR_MS } as const;
      assert.deepEqual(await listAll(scene, old), pending.slice(0, 3));
      assert.equal((await listAll(scene, { state: 'completed', limit: 3 })).length, 5);
      assert.equal((await listAll(scene, { limit: 3 })).length, 10);
      assert.deepEqual(await listAll(scene, { state: 'tombstone' }), []);
      const [record] = (await scene.store.list?.({ state: 'pending', limit: 1 }))?.records ?? [];
      assert.deepEqual(
        [record?.key, record?.operation, record?.owner, record?.attempt, record?.state],
        ['pending 0', 'POST /labels', 'A', 1, 'pending'],
      );
      assert.equal(
        record?.recordKey,
        'pending 0',
        'the record key is the one that the caller of the store has chosen',
      );
    },
  ),

  contractCase(
    'list knows a result that has expired as a tombstone, pruned or not',
    ['list'],
    async (makeStore, clock) => {
      const scene = new Scene(await makeStore());
      await scene.finish('A', anyResponse());
      await clock.advance(DAY_MS);
      for (const prune of [false, true]) {
        if (prune) await scene.store.prune?.();
        assert.deepEqual(await listAll(scene, { state: 'completed' }), []);
        assert.deepEqual(await listAll(scene, { state: 'tombstone' }), ['k']);
      }
      await clock.advance(30 * DAY_MS);
      assert.deepEqual(await listAll(scene, {}), []);
    },
  ),
];

async function inspect(scene: Scene): Promise<RecordView> {
  const view = await scene.store.inspect?.('k');
  assert.ok(view, 'inspect finds the record');
  return view;
}

function assertView(actual: RecordView, expected: Partial<RecordView>): void {
  const { state, fingerprint, owner, attempt, createdAtMs, completedAtMs } = actual;
  assert.deepEqual({ state, fingerprint, owner, attempt, createdAtMs, completedAtMs }, expected);
}

/** The keys on all pages. */
async function listAll(scene: Scene, options: ListOptions): Promise<string[]> {
  const keys: string[] = [];
  let after: string | undefined;
  do {
    const page = await scene.store.list?.({
      ...options,
      ...(after === undefined ? {} : { after }),
    });
    assert.ok(page);
    keys.push(...page.records.map((record) => record.key));
    after = page.after;
  } while (after !== undefined);
  return keys;
}
