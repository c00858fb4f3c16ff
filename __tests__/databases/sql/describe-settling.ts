import { FencedError } from '../../../src/core/errors.ts';
import { failureOf, RESPONSE } from '../calls.ts';
import { setup } from './recovery-scene.ts';
import type { SqlDatabase } from './sql-database.ts';

/** What an operator settles by hand. */
export function describeSettling(database: () => SqlDatabase): void {
  const note = { reason: 'seen at the carrier', by: 'operator 7' };

  test('a record whose lease holds is settled only by force', async () => {
    const { clock, claim, complete, store } = await setup(database());
    const done = { kind: 'done', response: RESPONSE } as const;
    await claim('A');
    expect(await store.settle('k', done, note)).toBe('lease-holds');
    clock.advance(1_000);
    expect(await store.settle('k', done, note)).toBe('settled');
    expect(await store.settle('k', done, note, { force: true })).toBe('not-pending');
    expect(await claim('B')).toEqual({ kind: 'replay', response: RESPONSE });
    expect(await failureOf(complete('A'))).toBeInstanceOf(FencedError);
    expect(await store.settle('another key', done, note)).toBe('absent');
  });

  test('who settled a record and why is in the record', async () => {
    const { claim, store } = await setup(database());
    await claim('A');
    const unknown = { kind: 'unknown', response: RESPONSE } as const;
    expect(await store.settle('k', unknown, note, { force: true })).toBe('settled');
    const [row] = await database().rows('select settlement from idempotency_records');
    const settlement = JSON.parse(String(row?.['settlement']));
    expect(settlement).toEqual({ kind: 'unknown', force: true, ...note });
  });

  test('never-started frees a first attempt, and only ends the lease of a later one', async () => {
    const { clock, claim, takeOver, store } = await setup(database());
    await claim('A', {});
    expect(await store.settle('k', { kind: 'never-started' }, note)).toBe('settled');
    expect(await claim('B')).toEqual({ kind: 'new', attempt: 1 });
    clock.advance(1_000);
    await takeOver('C');
    expect(await store.settle('k', { kind: 'never-started' }, note)).toBe('lease-holds');
    const forced = store.settle('k', { kind: 'never-started' }, note, { force: true });
    expect(await forced).toBe('settled');
    expect(await store.inspect('k')).toMatchObject({ state: 'pending', attempt: 2 });
    expect(await takeOver('D')).toEqual({ kind: 'taken', attempt: 3 });
  });
}
