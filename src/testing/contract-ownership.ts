import { contractCase, type StoreContractCase } from './contract-case.ts';
import { anyResponse, assertRejects, Scene } from './contract-scene.ts';

/** Who may complete and release, and what it does. */
export const OWNERSHIP_RULES: readonly StoreContractCase[] = [
  contractCase(
    'a re-sent complete resolves, and the first response stays',
    [],
    async (makeStore) => {
      const scene = new Scene(await makeStore());
      await scene.finish('A', anyResponse('first'));
      await scene.complete('A', anyResponse('second'));
      await scene.complete('A', { kept: false, status: 200 });
      await scene.expectReplay(anyResponse('first'), 'B');
    },
  ),

  contractCase('complete on an absent record is fenced, and makes none', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    await assertRejects(scene.complete('A', anyResponse()), 'fenced');
    await scene.expectNew('B');
  }),

  contractCase('complete on a pending record of another is fenced', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    await scene.expectNew('A');
    await assertRejects(scene.complete('B', anyResponse('of B')), 'fenced');
    await scene.expectKind('pending', 'B');
    await scene.complete('A', anyResponse('of A'));
    await scene.expectReplay(anyResponse('of A'), 'B');
  }),

  contractCase('complete on a completed record of another is fenced', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    await scene.finish('A', anyResponse('of A'));
    await assertRejects(scene.complete('B', anyResponse('of B')), 'fenced');
    await scene.expectReplay(anyResponse('of A'), 'B');
  }),

  contractCase('complete after release is fenced', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    await scene.expectNew('A');
    await scene.release('A');
    await assertRejects(scene.complete('A', anyResponse()), 'fenced');
    await scene.expectNew('B');
    await assertRejects(scene.complete('A', anyResponse()), 'fenced');
    await scene.expectKind('pending', 'C');
  }),

  contractCase('release of what is absent resolves, and does nothing', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    await scene.release('A');
    await scene.expectNew('B');
  }),

  contractCase(
    'release of what another holds resolves, and does nothing',
    [],
    async (makeStore) => {
      const scene = new Scene(await makeStore());
      await scene.expectNew('A');
      await scene.release('B');
      await scene.release('a');
      await scene.expectKind('pending', 'B');
      await scene.complete('A', anyResponse());
    },
  ),

  contractCase('release after complete resolves, and the result stays', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    await scene.finish('A', anyResponse());
    await scene.release('A');
    await scene.release('B');
    await scene.expectReplay(anyResponse(), 'B');
  }),

  contractCase('a release that is sent twice frees no later owner', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    await scene.expectNew('A');
    await scene.release('A');
    await scene.expectNew('B');
    await scene.release('A');
    await scene.expectKind('pending', 'C');
    await scene.complete('B', anyResponse());
  }),

  contractCase('records do not touch each other', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    for (const key of ['one', 'two', 'three']) await scene.expectNew('A', { key });
    await scene.complete('A', anyResponse('of one'), { key: 'one' });
    await scene.release('A', { key: 'two' });
    await scene.expectReplay(anyResponse('of one'), 'B', { key: 'one' });
    await scene.expectNew('B', { key: 'two' });
    await scene.expectKind('pending', 'B', { key: 'three' });
  }),
];
