import assert from 'node:assert/strict';
import { recordKey } from '../core/record-key.ts';
import type { SettleAnswer, Settlement } from '../core/recovery-capabilities.ts';
import { contractCase, type StoreContractCase } from './contract-case.ts';
import { anyResponse, assertRejects, attemptOf, callOf, Scene } from './contract-scene.ts';

const LEASE_MS = 60_000;
const LEASED = { leaseMs: LEASE_MS };

/** How an operator ends what is pending, where that is offered. */
export const SETTLE_RULES: readonly StoreContractCase[] = [
  contractCase(
    'a record that is settled with a response is replayed, and its owner is fenced',
    ['settle'],
    async (makeStore) => {
      for (const kind of ['done', 'unknown'] as const) {
        const scene = new Scene(await makeStore());
        const response = anyResponse(kind);
        await scene.expectNew('A', { key: kind });
        const settled = settle(scene, { kind, response }, kind);
        response.body.fill(0);
        assert.equal(await settled, 'settled');
        await scene.expectReplay(anyResponse(kind), 'B', { key: kind });
        await scene.expectConflict('B', { key: kind });
        await assertRejects(scene.complete('A', anyResponse('late'), { key: kind }), 'fenced');
        await scene.release('A', { key: kind });
        await scene.expectReplay(anyResponse(kind), 'B', { key: kind });
      }
    },
  ),

  contractCase(
    'a record that is settled as never started is free again',
    ['settle'],
    async (makeStore) => {
      const scene = new Scene(await makeStore());
      await scene.expectNew('A');
      assert.equal(await settle(scene, { kind: 'never-started' }), 'settled');
      await scene.expectNew('B');
      await assertRejects(scene.complete('A', anyResponse()), 'fenced');
    },
  ),

  contractCase(
    'a record that was taken over keeps its number when it never started',
    ['settle', 'takeOver'],
    async (makeStore, clock) => {
      const scene = new Scene(await makeStore());
      const context = (owner: string) => attemptOf(owner, LEASED);
      await scene.expectNew('A', LEASED);
      await clock.advance(LEASE_MS);
      await scene.store.takeOver?.('k', 'f', context('B'), {}, callOf());
      await clock.advance(LEASE_MS);
      assert.equal(await settle(scene, { kind: 'never-started' }), 'settled');
      await scene.expectKind('pending', 'C', LEASED);
      const taken = await scene.store.takeOver?.('k', 'f', context('C'), {}, callOf());
      assert.ok(taken?.kind === 'taken');
      assert.equal(taken.attempt, 3);
    },
  ),

  contractCase(
    'a lease that holds is respected, unless the operator insists',
    ['settle'],
    async (makeStore, clock) => {
      const scene = new Scene(await makeStore());
      await scene.expectNew('A', LEASED);
      assert.equal(await settle(scene, { kind: 'never-started' }), 'lease-holds');
      const done = { kind: 'done', response: anyResponse() } as const;
      assert.equal(await settle(scene, done), 'lease-holds');
      await scene.expectKind('pending', 'B');
      assert.equal(await settle(scene, done, 'k', true), 'settled');
      await scene.expectReplay(anyResponse(), 'B');
      await scene.expectNew('A', { key: 'over', ...LEASED });
      await clock.advance(LEASE_MS);
      assert.equal(await settle(scene, { kind: 'never-started' }, 'over'), 'settled');
      await scene.expectNew('B', { key: 'over' });
    },
  ),

  contractCase('only what is pending can be settled', ['settle'], async (makeStore) => {
    const scene = new Scene(await makeStore());
    const other = { kind: 'done', response: anyResponse('other') } as const;
    assert.equal(await settle(scene, other), 'absent');
    assert.equal(await settle(scene, { kind: 'never-started' }), 'absent');
    await scene.finish('A', anyResponse());
    assert.equal(await settle(scene, other), 'not-pending');
    assert.equal(await settle(scene, { kind: 'never-started' }, 'k', true), 'not-pending');
    await scene.expectReplay(anyResponse(), 'B');
  }),

  contractCase(
    'list names each record so that it can be inspected and settled',
    ['list', 'inspect', 'settle'],
    async (makeStore) => {
      const scene = new Scene(await makeStore());
      const recordKeys = new Set(IDENTITIES.map((names) => recordKey(...names)));
      for (const [tenant, operation, key] of IDENTITIES) {
        const named = { tenant, operation, key, recordKey: recordKey(tenant, operation, key) };
        const context = { ...attemptOf('A'), ...named };
        await scene.store.claim(named.recordKey, 'f', context, callOf());
      }
      const { records } = (await scene.store.list?.({ state: 'pending' })) ?? { records: [] };
      assert.deepEqual(new Set(records.map((record) => record.recordKey)), recordKeys);
      for (const record of records) {
        const view = await scene.store.inspect?.(record.recordKey);
        assert.equal(view?.state, 'pending');
        assert.equal(await settle(scene, { kind: 'never-started' }, record.recordKey), 'settled');
      }
      assert.equal((await scene.store.list?.())?.records.length, 0);
    },
  ),
];

/** Also such as a database would take for one another, were it not for their record keys. */
const IDENTITIES: readonly (readonly [string | undefined, string | undefined, string])[] = [
  [undefined, undefined, 'a bare key'],
  [undefined, 'POST /labels', 'k'],
  ['tenant', 'POST /labels', 'k'],
  ['Ténant \u{1f4e6} ', 'POST /labels', 'k'],
  ['tenant ', 'POST /labels', 'k'],
  ['a\u2400b', 'POST /\u001b[2J\u001f', 'k'],
];

async function settle(
  scene: Scene,
  settlement: Settlement,
  key = 'k',
  force = false,
): Promise<SettleAnswer | undefined> {
  const note = { by: 'an operator', reason: 'looked it up' };
  return scene.store.settle?.(key, settlement, note, { force }, callOf());
}
