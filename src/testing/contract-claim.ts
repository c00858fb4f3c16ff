import assert from 'node:assert/strict';
import { contractCase, type StoreContractCase } from './contract-case.ts';
import { anyResponse, attemptOf, callOf, Scene } from './contract-scene.ts';

/** What `claim` answers, row by row. */
export const CLAIM_RULES: readonly StoreContractCase[] = [
  contractCase('a key that nobody holds is new, as attempt 1', [], async (makeStore) => {
    await new Scene(await makeStore()).expectNew('A');
  }),

  contractCase('a key that another owner holds is pending', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    await scene.expectNew('A');
    await scene.expectKind('pending', 'B');
    await scene.expectKind('pending', 'B');
  }),

  contractCase('an owner that claims again is told new again', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    await scene.expectNew('A');
    await scene.expectNew('A');
    await scene.expectKind('pending', 'B');
    await scene.complete('A', anyResponse());
  }),

  contractCase('owners are compared exactly', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    await scene.expectNew('owner');
    for (const owner of ['Owner', 'owner ', ' owner', 'öwner', 'owne', '']) {
      await scene.expectKind('pending', owner);
    }
  }),

  contractCase('a completed key is replayed, to its own owner too', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    await scene.finish('A', anyResponse());
    await scene.expectReplay(anyResponse(), 'B');
    await scene.expectReplay(anyResponse(), 'A');
  }),

  contractCase('a released key is new again, as attempt 1', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    await scene.expectNew('A');
    await scene.release('A');
    await scene.expectNew('B');
    await scene.expectKind('pending', 'A');
  }),

  contractCase('another fingerprint is a conflict while pending', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    await scene.expectNew('A');
    await scene.expectConflict('B');
    await scene.expectConflict('A');
    await scene.expectKind('pending', 'B');
    await scene.complete('A', anyResponse());
  }),

  contractCase('another fingerprint is a conflict once completed', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    await scene.finish('A', anyResponse());
    await scene.expectConflict('B');
    await scene.expectConflict('A');
    await scene.expectReplay(anyResponse(), 'B');
  }),

  contractCase('fingerprints are compared exactly', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    await scene.expectNew('A', { fingerprint: 'é:abc' });
    for (const fingerprint of ['é:ABC', 'é:abc ', 'e:abc', 'é:ab', '']) {
      await scene.expectKind('conflict', 'A', { fingerprint });
    }
    await scene.expectNew('A', { fingerprint: 'é:abc' });
  }),

  contractCase('the fingerprint argument counts, not the context', [], async (makeStore) => {
    const store = await makeStore();
    const context = attemptOf('A', { fingerprint: 'of the context' });
    await store.claim('k', 'of the argument', context, callOf());
    const claim = await store.claim('k', 'of the context', context, callOf());
    assert.equal(claim.kind, 'conflict');
  }),

  contractCase('a client that is gone changes nothing about its calls', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    const gone = { clientGone: true };
    await scene.expectNew('A', gone);
    await scene.complete('A', anyResponse(), gone);
    await scene.expectReplay(anyResponse(), 'B', gone);
    await scene.expectNew('A', { ...gone, key: 'other' });
    await scene.release('A', { ...gone, key: 'other' });
    await scene.expectNew('B', { key: 'other' });
  }),

  contractCase('what one connection wrote the others see', [], async (makeStore) => {
    const [one, two] = [new Scene(await makeStore()), new Scene(await makeStore())];
    await one.expectNew('A');
    await two.expectKind('pending', 'B');
    await two.complete('A', anyResponse());
    await one.expectReplay(anyResponse(), 'B');
    await two.expectNew('A', { key: 'other' });
    await one.release('A', { key: 'other' });
    await two.expectNew('B', { key: 'other' });
  }),
];
