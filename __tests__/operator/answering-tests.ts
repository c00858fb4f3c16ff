import {
  done,
  listRecords,
  recordReference,
  settle,
  showRecord,
  unknown,
} from '../../src/operator/index.ts';
import { leavePending } from './left-pending.ts';
import { LABEL, LEFT, NOTE, type OperatorScene } from './operator-scene.ts';

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
}
