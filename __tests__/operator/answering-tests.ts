import {
  done,
  listRecords,
  neverStarted,
  recordReference,
  settle,
  showRecord,
  unknown,
} from '../../src/operator/index.ts';
import { leavePending, takeOver } from './left-pending.ts';
import { LABEL, LEASE_MS, LEASED, LEFT, NOTE, type OperatorScene } from './operator-scene.ts';

const DAY_MS = 86_400_000;

/** What the retries of a settled key are told. */
export function answeringTests(setup: () => Promise<OperatorScene>): void {
  test('what is settled as done replays byte for byte, and the handler is not called again', async () => {
    const scene = await setup();
    const { store, heard } = scene;
    const { ask, runs } = await scene.failingApp();
    const pending = listRecords(store, { state: 'pending' })[Symbol.asyncIterator]();
    const reference = recordReference((await pending.next()).value?.recordKey ?? '');
    expect(await settle(store, { reference }, done(LABEL), NOTE)).toBe('settled');
    const answered = await ask();
    expect(answered).toMatchObject({ status: 201, body: LABEL.body.toString() });
    expect(answered.lines).toEqual(
      expect.arrayContaining([
        'Content-Type: application/json',
        'ETag: "label-901-v1"',
        'ETag: "backup"',
        `Content-Length: ${LABEL.body.length}`,
      ]),
    );
    expect(await ask()).toEqual(answered);
    expect(runs()).toBe(1);
    expect(heard).toMatchObject([{ status: 201, operation: 'POST /labels', attempt: 1 }]);
  });

  test('what is settled as unknown is a definite answer that says so', async () => {
    const scene = await setup();
    const { store } = scene;
    const { ask, runs } = await scene.failingApp();
    expect(await settle(store, LEFT, unknown(), NOTE)).toBe('settled');
    expect(await ask()).toMatchObject({ status: 409, body: '{"error":"outcome_unknown"}' });
    expect(runs()).toBe(1);
  });

  test('only what is there and pending can be settled', async () => {
    const scene = await setup();
    const { store, heard } = scene;
    expect(await scene.settle(done(LABEL))).toBe('absent');
    expect(await settle(store, { reference: '12345678' }, done(LABEL), NOTE)).toBe('absent');
    await leavePending(store, LEFT);
    expect(await scene.settle(done(LABEL))).toBe('settled');
    expect(await scene.settle(unknown(), true)).toBe('not-pending');
    expect(await showRecord(store, LEFT)).toMatchObject({ response: { status: 201 } });
    expect(heard).toHaveLength(1);
  });

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
