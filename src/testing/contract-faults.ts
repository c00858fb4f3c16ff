import assert from 'node:assert/strict';
import type { SavedResponse } from '../core/saved-response.ts';
import { contractCase, type StoreContractCase } from './contract-case.ts';
import { anyResponse, assertRejects, attemptOf, callOf, Scene } from './contract-scene.ts';
import { FaultyStore } from './faulty-store.ts';

/** What is left when replies are lost, or calls are applied after their deadline. */
export const FAULT_RULES: readonly StoreContractCase[] = [
  contractCase(
    'a claim whose reply was lost is new when it is sent again',
    [],
    async (makeStore) => {
      const faulty = new FaultyStore(await makeStore());
      const scene = new Scene(faulty);
      faulty.inject('claim', { kind: 'apply-then-reject' });
      await assert.rejects(scene.claim('A'));
      await scene.expectKind('pending', 'B');
      await scene.expectNew('A');
    },
  ),

  contractCase('a claim whose reply was lost is undone by a release', [], async (makeStore) => {
    const faulty = new FaultyStore(await makeStore());
    const scene = new Scene(faulty);
    faulty.inject('claim', { kind: 'apply-then-reject' });
    await assert.rejects(scene.claim('A'));
    await scene.release('A');
    await scene.expectNew('B');
  }),

  contractCase(
    'a release that overtakes its claim does nothing; the next one frees',
    [],
    async (makeStore) => {
      const faulty = new FaultyStore(await makeStore());
      const scene = new Scene(faulty);
      faulty.inject('claim', { kind: 'apply-late' });
      const late = scene.claim('A');
      await scene.release('A');
      await faulty.letGo();
      await late;
      await scene.expectKind('pending', 'B');
      await scene.release('A');
      await scene.expectNew('B');
    },
  ),

  contractCase(
    'a claim after its deadline, then released, leaves the key free',
    [],
    async (makeStore) => {
      const scene = new Scene(await makeStore());
      // It may be refused or applied: the store cannot be asked which.
      await scene.claim('A', { late: true }).catch(() => undefined);
      await scene.release('A');
      await scene.expectNew('B');
    },
  ),

  contractCase(
    'a complete after its deadline is applied whole or not at all',
    [],
    async (makeStore) => {
      const scene = new Scene(await makeStore());
      await scene.expectNew('A');
      await scene.complete('A', anyResponse(), { late: true }).catch(() => undefined);
      const claim = await scene.claim('B');
      assert.ok(claim.kind === 'pending' || claim.kind === 'replay', `it is ${claim.kind}`);
      await scene.complete('A', anyResponse());
      await scene.expectReplay(anyResponse(), 'B');
    },
  ),

  contractCase(
    'a complete whose reply was lost resolves when it is sent again',
    [],
    async (makeStore) => {
      const faulty = new FaultyStore(await makeStore());
      const scene = new Scene(faulty);
      await scene.expectNew('A');
      faulty.inject('complete', { kind: 'apply-then-reject' });
      await assert.rejects(scene.complete('A', anyResponse('first')));
      await scene.complete('A', anyResponse('second'));
      await scene.expectReplay(anyResponse('first'), 'B');
    },
  ),

  contractCase(
    'a release whose reply was lost frees no later owner when sent again',
    [],
    async (makeStore) => {
      const faulty = new FaultyStore(await makeStore());
      const scene = new Scene(faulty);
      await scene.expectNew('A');
      faulty.inject('release', { kind: 'apply-then-reject' });
      await assert.rejects(scene.release('A'));
      await scene.expectNew('B');
      await scene.release('A');
      await scene.expectKind('pending', 'C');
      await assertRejects(scene.complete('A', anyResponse()), 'fenced');
      await scene.complete('B', anyResponse());
    },
  ),

  contractCase(
    'a store method answers with a promise, whatever it is given',
    [],
    async (makeStore) => {
      const store = await makeStore();
      const context = attemptOf('A');
      const nonsense = undefined as unknown as SavedResponse;
      const calls = [
        () => store.claim('k', 'f', context, callOf()),
        () => store.complete('k', nonsense, context, callOf()),
        () => store.release('k', context, callOf()),
      ];
      for (const call of calls) {
        let answer: unknown;
        assert.doesNotThrow(() => {
          answer = call();
        });
        assert.equal(typeof (answer as Promise<unknown>)?.then, 'function');
        await Promise.allSettled([answer]);
      }
    },
  ),
];
