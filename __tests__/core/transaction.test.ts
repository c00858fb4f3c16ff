import { background } from '../../src/core/background.ts';
import { FencedError } from '../../src/core/errors.ts';
import { transactional } from '../../src/core/recovery.ts';
import type { KeptResponse } from '../../src/core/saved-response.ts';
import { MINUTE_MS } from './attempt-rig.ts';
import { ManualRuntime, settled } from './manual-runtime.ts';
import { appliesThenRejects, HANGS, held, rejects } from './planned-calls.ts';
import type { FakeTransaction } from './planned-store.ts';
import { hearEvents, LEASE_MS, recoveryRig } from './recovery-rig.ts';

const { names } = hearEvents();

afterEach(() => {
  expect(background()).toEqual({ unsavedBytes: 0, unacknowledgedReleases: 0 });
});

/** An attempt whose handler has written one row. */
async function setup() {
  const rig = recoveryRig((database) => transactional(database));
  const write = async (over: Parameters<typeof rig.run>[0] = {}) => {
    const attempt = await rig.run(over);
    (attempt.tx as FakeTransaction).write('label');
    return attempt;
  };
  return { ...rig, write };
}

describe('a transaction', () => {
  test('begins with its limits after admit, and what was written commits with the response', async () => {
    const { write, database, memory, begin, calls, runtime } = await setup();
    const attempt = await write();
    expect(database.limits).toEqual({
      statementTimeoutMs: 10_000,
      lockTimeoutMs: 5_000,
      idleTimeoutMs: 10_000,
    });
    expect(attempt.hasToConclude(true)).toBe(true);
    expect(await attempt.conclude(CREATED, true)).toEqual({ kind: 'saved' });
    expect(calls.toString()).toBe('claim begin write completeIn commit');
    expect([database.rows, database.open]).toEqual([['label'], 0]);
    expect((await memory.inspect('k'))?.response).toEqual(CREATED);
    expect(await begin().claim()).toEqual({ kind: 'replay', response: CREATED });
    expect(names()).toBe('claimed completed replayed');
    expect(runtime.timers).toBe(0);
  });

  test.each([200, 302, 404, 499])('commits with an answer of %d', async (status) => {
    const { write, database } = await setup();
    const attempt = await write();
    expect(await attempt.conclude({ ...CREATED, status }, true)).toEqual({ kind: 'saved' });
    expect(database.rows).toEqual(['label']);
  });

  test.each([500, 503, 408])(
    'is rolled back and its key given back before an answer of %d leaves',
    async (status) => {
      const { write, database, begin, calls, runtime } = await setup();
      const attempt = await write();
      expect(attempt.hasToConclude(false)).toBe(true);
      expect(await attempt.conclude({ ...CREATED, status }, false)).toEqual({ kind: 'undone' });
      expect(calls.toString()).toBe('claim begin write rollback release');
      expect([database.rows, database.open]).toEqual([[], 0]);
      expect(await begin().claim()).toEqual({ kind: 'new', attempt: 1 });
      expect(runtime.timers).toBe(0);
    },
  );

  test('is rolled back by the word neverStarted with an answer of 400 or above', async () => {
    const { write, database, calls } = await setup();
    const attempt = await write();
    attempt.sayNeverStarted();
    expect(await attempt.conclude({ ...CREATED, status: 404 }, true)).toEqual({ kind: 'undone' });
    expect(calls.toString()).toBe('claim begin write rollback release');
    expect(database.rows).toEqual([]);
  });

  test('whose response is too large to keep is rolled back, and says so in its place', async () => {
    const { write, database, begin, calls } = await setup();
    const attempt = await write();
    const saving = await attempt.conclude({ kept: false, status: 201 }, true);
    expect(saving).toMatchObject({ kind: 'failed', error: { code: 'response_too_large' } });
    expect(calls.toString()).toBe('claim begin write rollback release');
    expect(database.rows).toEqual([]);
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 1 });
  });

  test('of an attempt that was taken over is rolled back, and the client told the record', async () => {
    const { write, runtime, database, memory, begin } = await setup();
    const stopped = await write({ runtime: new ManualRuntime() });
    await runtime.advance(LEASE_MS);
    const winner = await write();
    expect(winner.context.attempt).toBe(2);
    await winner.conclude(CREATED, true);
    expect(await stopped.conclude({ ...CREATED, status: 200 }, true)).toMatchObject({
      kind: 'superseded',
      found: { state: 'completed', response: CREATED },
    });
    expect([database.rows, database.open]).toEqual([['label'], 0]);
    expect((await memory.inspect('k'))?.attempt).toBe(2);
    expect(await begin().claim()).toEqual({ kind: 'replay', response: CREATED });
    expect(names()).toContain('superseded');
  });

  test.each([
    ['rejects', rejects(), 0],
    ['hangs', HANGS, 5_000],
  ])('whose completion %s is rolled back, released, and fails', async (_, plan, waitMs) => {
    const { write, database, runtime, calls } = await setup();
    const attempt = await write();
    calls.plan('completeIn', plan);
    const saving = attempt.conclude(CREATED, true);
    await runtime.advance(waitMs);
    expect(await saving).toMatchObject({ kind: 'failed' });
    expect(calls.toString()).toBe('claim begin write completeIn rollback release');
    expect([database.rows, database.open]).toEqual([[], 0]);
    expect(names()).toBe('claimed save-failed released');
  });

  test('that is not to be had gives the key back, and nothing runs', async () => {
    const { begin, calls, runtime } = await setup();
    calls.plan('begin', rejects());
    const attempt = begin();
    await attempt.claim();
    await attempt.admit();
    expect(await attempt.openTransaction()).toBe(false);
    expect(() => attempt.start()).toThrow('dead');
    expect(calls.toString()).toBe('claim begin release');
    expect(names()).toBe('claimed transaction-failed released');
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 1 });
    expect(runtime.timers).toBe(0);
  });

  test('that does not begin in time is not waited for, and is rolled back when it does', async () => {
    const { begin, calls, runtime, database } = await setup();
    const { plan, letGo } = held();
    calls.plan('begin', plan);
    const attempt = begin();
    await attempt.claim();
    await attempt.admit();
    const opened = attempt.openTransaction();
    await runtime.advance(5_000);
    expect(await opened).toBe(false);
    expect(calls.toString()).toBe('claim begin release');
    letGo();
    await settled();
    expect(calls.toString()).toBe('claim begin release rollback');
    expect(database.open).toBe(0);
  });

  test('that an adapter throws at once, or rejects late, is not to be had either', async () => {
    const { begin, calls, runtime } = await setup();
    calls.plan('begin', () => {
      throw new Error('no pool');
    });
    const one = begin();
    await one.claim();
    await one.admit();
    expect(await one.openTransaction()).toBe(false);
    const { plan, letGo } = held();
    calls.plan('begin', () => plan(() => Promise.reject(new Error('too many'))));
    const other = begin();
    await other.claim();
    await other.admit();
    const opened = other.openTransaction();
    await runtime.advance(5_000);
    expect(await opened).toBe(false);
    letGo();
    await settled();
    expect(calls.toString()).toBe('claim begin release claim begin release');
  });

  test('that nobody needs any more is rolled back before the key is given back', async () => {
    const { begin, calls, database } = await setup();
    const attempt = begin();
    await attempt.claim();
    await attempt.admit();
    await attempt.openTransaction();
    await attempt.release();
    expect(calls.toString()).toBe('claim begin rollback release');
    expect(database.open).toBe(0);
    expect(() => attempt.start()).toThrow('dead');
  });

  test('whose answer was destroyed is rolled back and released', async () => {
    const { write, calls, database } = await setup();
    const attempt = await write();
    attempt.abandon();
    await settled();
    expect(calls.toString()).toBe('claim begin write rollback release');
    expect([database.rows, database.open]).toEqual([[], 0]);
    attempt.abandon();
    expect(attempt.isLeft).toBe(false);
  });

  test('is there for the handler while it is open, and throws before and after', async () => {
    const { begin, write, runtime } = await setup();
    expect(() => begin().tx).toThrow(OVER);
    const attempt = await write();
    expect(attempt.tx).toBe(attempt.tx);
    const saving = attempt.conclude(CREATED, true);
    expect(() => attempt.tx).toThrow(OVER);
    await saving;
    expect(() => attempt.tx).toThrow(OVER);
    expect(runtime.timers).toBe(0);
  });
});

describe('a rollback', () => {
  test('that is under way is waited for before the key is given back', async () => {
    const { write, runtime, calls, memory } = await setup();
    const attempt = await write();
    const { plan, letGo } = held();
    calls.plan('rollback', plan);
    await runtime.advance(LEASE_MS);
    const saving = attempt.conclude({ ...CREATED, status: 500 }, false);
    await settled();
    expect(calls.toString()).toBe('claim begin write rollback');
    letGo();
    expect(await saving).toEqual({ kind: 'undone' });
    expect(calls.toString()).toBe('claim begin write rollback release');
    expect(await memory.inspect('k')).toBeUndefined();
  });

  test.each([
    ['rejects', rejects(), 0],
    ['hangs', HANGS, 5_000],
  ])('that %s frees no key, and the error leaves all the same', async (_, plan, waitMs) => {
    const { write, runtime, calls, memory, begin } = await setup();
    const attempt = await write();
    calls.plan('rollback', plan);
    const saving = attempt.conclude({ ...CREATED, status: 500 }, false);
    await runtime.advance(waitMs);
    expect(await saving).toEqual({ kind: 'undone' });
    expect(names()).toBe('claimed rollback-failed');
    expect(await memory.inspect('k')).toMatchObject({ state: 'pending', attempt: 1 });
    await runtime.advance(LEASE_MS);
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 2 });
  });

  test('that fails after a completion that failed frees no key either', async () => {
    const { write, calls, memory } = await setup();
    const attempt = await write();
    calls.plan('completeIn', rejects());
    calls.plan('rollback', rejects());
    expect(await attempt.conclude(CREATED, true)).toMatchObject({ kind: 'failed' });
    expect(calls.count('release')).toBe(0);
    expect(await memory.inspect('k')).toMatchObject({ state: 'pending' });
  });

  test('of a handler that never answers comes after its lease, and its late answer is refused', async () => {
    const { write, runtime, database, calls, begin } = await setup();
    const attempt = await write();
    await runtime.advance(LEASE_MS - 1);
    expect(database.open).toBe(1);
    await runtime.advance(1);
    expect([database.rows, database.open]).toEqual([[], 0]);
    expect(() => attempt.tx).toThrow(OVER);
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 2 });
    const saving = await attempt.conclude(CREATED, true);
    expect(saving).toMatchObject({ kind: 'failed', error: { code: 'transaction_over' } });
    expect(calls.count('commit')).toBe(0);
    expect(database.rows).toEqual([]);
    expect(await begin().claim()).toEqual({ kind: 'pending', leaseOver: false });
    await runtime.advance(MINUTE_MS);
  });
});

describe('completing in a transaction', () => {
  test('as a fenced owner that the store cannot tell more of is superseded', async () => {
    const { write, calls } = await setup();
    const attempt = await write();
    calls.plan('completeIn', rejects(new FencedError()));
    calls.plan('inspect', rejects());
    const saving = await attempt.conclude(CREATED, true);
    expect(saving).toEqual({ kind: 'superseded', found: undefined });
    expect(calls.toString()).toBe('claim begin write completeIn rollback inspect');
  });

  test('whose reply was lost is not sent again', async () => {
    const { write, calls } = await setup();
    const attempt = await write();
    calls.plan('completeIn', appliesThenRejects());
    expect(await attempt.conclude(CREATED, true)).toMatchObject({ kind: 'failed' });
    expect(calls.count('completeIn')).toBe(1);
  });
});

const OVER = expect.objectContaining({ code: 'transaction_over' });
const CREATED: KeptResponse = {
  kept: true,
  status: 201,
  headers: [],
  removedNames: [],
  body: Buffer.from('made'),
};
