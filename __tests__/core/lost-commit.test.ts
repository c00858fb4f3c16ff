import { transactional } from '../../src/core/recovery.ts';
import { ROLLED_BACK } from '../../src/core/transaction.ts';
import { RESPONSE } from './attempt-rig.ts';
import { answers, appliesThenRejects, HANGS, type Plan, rejects } from './planned-calls.ts';
import type { FakeTransaction } from './planned-store.ts';
import { contextOf, hearEvents, LEASE_MS, recoveryRig } from './recovery-rig.ts';

describe('a commit', () => {
  const { names } = hearEvents();

  async function setup(commit: Plan) {
    const rig = recoveryRig((database) => transactional(database));
    const attempt = await rig.run();
    (attempt.tx as FakeTransaction).write('label');
    rig.calls.plan('commit', commit);
    return { ...rig, attempt };
  }

  test('that the database has rolled back is released, and its error passed on', async () => {
    const error = Object.assign(new Error('40001'), { [ROLLED_BACK]: true });
    const { attempt, calls, database, begin } = await setup(rejects(error));
    expect(await attempt.conclude(RESPONSE, true)).toEqual({ kind: 'failed', error });
    expect(calls.toString()).toBe('claim begin write completeIn commit release');
    expect(database.rows).toEqual([]);
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 1 });
  });

  test('whose reply was lost is told as saved when the record says so', async () => {
    const { attempt, calls, database, begin } = await setup(appliesThenRejects());
    expect(await attempt.conclude(RESPONSE, true)).toEqual({ kind: 'saved' });
    expect(calls.toString()).toBe('claim begin write completeIn commit inspect');
    expect(names()).toBe('claimed save-failed completed');
    expect(database.rows).toEqual(['label']);
    expect(await begin().claim()).toEqual({ kind: 'replay', response: RESPONSE });
  });

  test('that hangs is looked for when storeTimeoutMs is over', async () => {
    const { attempt, runtime } = await setup(async (apply) => {
      await apply();
      return new Promise(() => {});
    });
    const saving = attempt.conclude(RESPONSE, true);
    await runtime.advance(5_000);
    expect(await saving).toEqual({ kind: 'saved' });
  });

  test('that takes effect late is looked for again until it has', async () => {
    const { attempt, calls, memory, runtime } = await setup(rejects());
    const saving = attempt.conclude(RESPONSE, true);
    await runtime.advance(3_000);
    await memory.complete('k', RESPONSE, attempt.context);
    await runtime.advance(100);
    expect(await saving).toEqual({ kind: 'saved' });
    expect(calls.count('inspect')).toBe(32);
  });

  test('is looked for through faults of the store', async () => {
    const { attempt, calls, runtime } = await setup(appliesThenRejects());
    calls.plan('inspect', rejects(), 3);
    const saving = attempt.conclude(RESPONSE, true);
    await runtime.advance(300);
    expect(await saving).toEqual({ kind: 'saved' });
  });

  test.each([
    ['is still pending', undefined],
    ['cannot be read', rejects()],
    ['is not read in time', HANGS],
  ])('of which nobody can tell since the record %s is told as unsaved', async (_, plan) => {
    const { attempt, calls, runtime, begin, memory, database } = await setup(rejects());
    if (plan !== undefined) calls.plan('inspect', plan, 1_000);
    let ended: unknown;
    void attempt.conclude(RESPONSE, true).then((saving) => {
      ended = saving;
    });
    await runtime.advance(4_800);
    expect(ended).toBeUndefined();
    await runtime.advance(200);
    expect(ended).toEqual({ kind: 'unsaved' });
    expect(names()).toBe('claimed save-failed unsaved');
    expect(calls.count('release')).toBe(0);
    expect(await memory.inspect('k')).toMatchObject({ state: 'pending', attempt: 1 });
    expect(database.rows).toEqual([]);
    await runtime.advance(LEASE_MS);
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 2 });
  });

  test('whose record another attempt owns by then is superseded', async () => {
    const { attempt, memory, runtime } = await setup(rejects());
    const saving = attempt.conclude(RESPONSE, true);
    await runtime.advance(1_000);
    const note = { by: 'a test', reason: 'a test' };
    await memory.settle('k', { kind: 'never-started' }, note, { force: true });
    await memory.claim('k', 'f', contextOf('another'));
    await runtime.advance(100);
    expect(await saving).toMatchObject({ kind: 'superseded', found: { owner: 'another' } });
  });

  test('whose record is gone is superseded, too', async () => {
    const { attempt, calls } = await setup(rejects());
    calls.plan('inspect', answers(undefined));
    expect(await attempt.conclude(RESPONSE, true)).toMatchObject({ kind: 'superseded' });
  });

  test('of which the record says no more than that it was made is told as saved', async () => {
    const { attempt, calls, memory } = await setup(appliesThenRejects());
    calls.plan('inspect', async () => ({ ...(await memory.inspect('k')), response: undefined }));
    expect(await attempt.conclude(RESPONSE, true)).toEqual({ kind: 'saved' });
  });
});
