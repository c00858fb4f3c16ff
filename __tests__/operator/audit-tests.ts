import {
  done,
  neverStarted,
  recordReference,
  settle,
  showRecord,
} from '../../src/operator/index.ts';
import { leavePending, takeOver } from './left-pending.ts';
import { LABEL, LEASE_MS, LEASED, LEFT, NOTE, type OperatorScene } from './operator-scene.ts';

const DAY_MS = 86_400_000;

/** What is told of a settlement, and to whom. */
export function auditTests(setup: () => Promise<OperatorScene>): void {
  test('a record tells who settled it, how and why, for as long as it is kept', async () => {
    const scene = await setup();
    const { store, clock } = scene;
    await leavePending(store, LEASED);
    expect(await showRecord(store, LEFT)).not.toHaveProperty('settlement');
    clock.advance(LEASE_MS);
    await takeOver(store, { ...LEASED, owner: 'B' });
    await scene.settle(neverStarted(), true);
    const first = { kind: 'never-started', ...NOTE, forced: true };
    expect(await showRecord(store, LEFT)).toMatchObject({ state: 'pending', settlement: first });
    const last = { by: 'bob', reason: 'a "second" look\n\u001b 漢' };
    await settle(store, LEFT, done(LABEL), last);
    const kept = { settlement: { kind: 'done', ...last, forced: false } };
    expect(await showRecord(store, LEFT)).toMatchObject({ state: 'completed', ...kept });
    clock.advance(DAY_MS);
    expect(await showRecord(store, LEFT)).toMatchObject({ state: 'tombstone', ...kept });
  });

  test('a settlement is told as an event: who, how and why, and never the key', async () => {
    const scene = await setup();
    const { store, heard } = scene;
    const recordKey = await leavePending(store, LEFT);
    expect(await scene.settle(neverStarted())).toBe('settled');
    const [event] = heard;
    expect(event).toEqual({
      name: 'settled',
      recordId: expect.stringContaining(recordReference(recordKey)),
      operation: 'POST /labels',
      attempt: 1,
      settlement: { kind: 'never-started', ...NOTE, forced: false },
    });
    expect(JSON.stringify(event)).not.toContain(LEFT.key);
  });
}
