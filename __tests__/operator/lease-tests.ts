import { done, neverStarted, showRecord, unknown } from '../../src/operator/index.ts';
import { leavePending, takeOver } from './left-pending.ts';
import { LABEL, LEASE_MS, LEASED, LEFT, type OperatorScene } from './operator-scene.ts';

/** What is done to a key that may have an owner at work. */
export function leaseTests(setup: () => Promise<OperatorScene>): void {
  test('what never started is free again at its first attempt', async () => {
    const scene = await setup();
    const { store } = scene;
    await leavePending(store, LEFT);
    expect(await scene.settle(neverStarted())).toBe('settled');
    expect(await showRecord(store, LEFT)).toBeUndefined();
    expect(await scene.claim({ ...LEFT, owner: 'B' })).toEqual({ kind: 'new', attempt: 1 });
  });

  test('what never started at a later attempt keeps its number: only its lease ends', async () => {
    const scene = await setup();
    const { store, clock } = scene;
    await leavePending(store, LEASED);
    clock.advance(LEASE_MS);
    expect(await takeOver(store, { ...LEASED, owner: 'B' })).toBe(2);
    clock.advance(LEASE_MS);
    expect(await scene.settle(neverStarted())).toBe('settled');
    expect(await showRecord(store, LEFT)).toMatchObject({ state: 'pending', attempt: 2 });
    expect(await scene.claim({ ...LEASED, owner: 'A' })).toMatchObject({ kind: 'pending' });
    expect(await takeOver(store, { ...LEASED, owner: 'C' })).toBe(3);
  });

  test('a lease that holds is respected, unless the operator insists', async () => {
    const scene = await setup();
    const { store, heard } = scene;
    await leavePending(store, LEASED);
    for (const settlement of [done(LABEL), unknown(), neverStarted()]) {
      expect(await scene.settle(settlement)).toBe('lease-holds');
    }
    expect(await showRecord(store, LEFT)).toMatchObject({ state: 'pending' });
    expect(heard).toEqual([]);
    expect(await scene.settle(done(LABEL), true)).toBe('settled');
    expect(await showRecord(store, LEFT)).toMatchObject({ state: 'completed' });
    expect(heard).toMatchObject([{ settlement: { forced: true } }]);
  });

  test('a lease that is over is in nobody’s way', async () => {
    const scene = await setup();
    const { store, clock } = scene;
    await leavePending(store, LEASED);
    clock.advance(LEASE_MS);
    expect(await scene.settle(done(LABEL))).toBe('settled');
    expect(await showRecord(store, LEFT)).toMatchObject({ response: { status: 201 } });
  });
}
