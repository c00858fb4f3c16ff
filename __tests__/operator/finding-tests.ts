import {
  done,
  listRecords,
  neverStarted,
  recordReference,
  settle,
  showRecord,
} from '../../src/operator/index.ts';
import { leavePending } from './left-pending.ts';
import { LABEL, LEFT, NOTE, type OperatorScene } from './operator-scene.ts';

/** How a record is found. */
export function findingTests(setup: () => Promise<OperatorScene>): void {
  test('records are listed page by page, oldest first, each with what settles it', async () => {
    const { store, clock } = await setup();
    const left: string[] = [];
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      left.push(await leavePending(store, { ...LEFT, key }));
      clock.advance(1_000);
    }
    const found: string[] = [];
    for await (const record of listRecords(store, { state: 'pending', pageSize: 2 })) {
      found.push(record.recordKey);
    }
    expect(found).toEqual(left);
  });

  test('a record is shown by its record key, by what it is for, and by its reference', async () => {
    const { store } = await setup();
    const recordKey = await leavePending(store, LEFT);
    await leavePending(store, { ...LEFT, key: 'label-req-8' });
    const reference = recordReference(recordKey);
    const expected = { ...LEFT, recordKey, reference, state: 'pending', attempt: 1 };
    const names = [reference, reference.slice(0, 8), reference.toUpperCase()];
    for (const one of [recordKey, LEFT, ...names.map((each) => ({ reference: each }))]) {
      expect(await showRecord(store, one)).toMatchObject(expected);
    }
    expect(await showRecord(store, { reference: '00000000' })).toBeUndefined();
    expect(await showRecord(store, { ...LEFT, key: 'another' })).toBeUndefined();
  });

  test('a reference that two pending records begin with names neither of them', async () => {
    const { store } = await setup();
    // Both digests begin with 8312292a.
    const keys = ['label-12423', 'label-35601'];
    for (const key of keys) await leavePending(store, { key });
    const reference = '8312292a';
    const ambiguous = { code: 'reference_ambiguous' };
    await expect(showRecord(store, { reference })).rejects.toMatchObject(ambiguous);
    const settling = settle(store, { reference }, neverStarted(), NOTE);
    await expect(settling).rejects.toMatchObject(ambiguous);
    // One of them ends, and it is the name of the other.
    const [first = '', second = ''] = keys;
    expect(await settle(store, first, done(LABEL), NOTE)).toBe('settled');
    expect(await showRecord(store, { reference })).toMatchObject({ recordKey: second });
    // What is not pending any more is still found, by more of its digits.
    const ended = { reference: recordReference(first) };
    expect(await showRecord(store, ended)).toMatchObject({ recordKey: first, state: 'completed' });
  });
}
