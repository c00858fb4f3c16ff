import { FencedError } from '../../../src/core/errors.ts';
import { attemptOf, failureOf, within } from '../calls.ts';
import { setup } from './recovery-scene.ts';
import type { SqlDatabase } from './sql-database.ts';

/** Who may take over what, and from whom. */
export function describeTakeovers(database: () => SqlDatabase): void {
  test('a lease that is over can be taken over once, and the old owner is fenced out', async () => {
    const { clock, claim, takeOver, complete, store } = await setup(database());
    await claim('A');
    expect(await claim('B')).toEqual({ kind: 'pending', leaseOver: false });
    expect(await takeOver('B')).toEqual({ kind: 'not-taken' });
    clock.advance(1_000);
    expect(await claim('B')).toEqual({ kind: 'pending', leaseOver: true });
    const takers = Array.from({ length: 16 }, (_, n) => takeOver(`B${n}`));
    const answers = await Promise.all(takers);
    expect(answers.filter(({ kind }) => kind === 'taken')).toEqual([{ kind: 'taken', attempt: 2 }]);
    const winner = `B${answers.findIndex(({ kind }) => kind === 'taken')}`;
    expect(await takeOver(winner)).toEqual({ kind: 'taken', attempt: 2 });
    clock.advance(1_000);
    expect(await takeOver(winner)).toEqual({ kind: 'taken', attempt: 2 });
    expect(await failureOf(complete('A'))).toBeInstanceOf(FencedError);
    await complete(winner);
    expect(await store.inspect('k')).toMatchObject({
      state: 'completed',
      owner: winner,
      attempt: 2,
    });
    expect(await takeOver('C')).toEqual({ kind: 'not-taken' });
  });

  test('nothing is taken over without a lease, with another fingerprint, or too late', async () => {
    const { clock, claim, takeOver, release } = await setup(database());
    await claim('A', {});
    clock.advance(1e9);
    expect(await takeOver('B')).toEqual({ kind: 'not-taken' });
    await release('A');
    expect(await takeOver('B')).toEqual({ kind: 'not-taken' });
    await claim('A');
    clock.advance(10_000);
    expect(await takeOver('B', {}, 'another')).toEqual({ kind: 'not-taken' });
    expect(await takeOver('B', { withinMs: 9_999 })).toEqual({ kind: 'too-late' });
    expect(await takeOver('B', { withinMs: 10_000 })).toEqual({ kind: 'taken', attempt: 2 });
    clock.advance(1_000);
    expect(await takeOver('C', { withinMs: 10_000 })).toEqual({ kind: 'too-late' });
  });

  test('the number of a record that was taken over stays when it is released', async () => {
    const { clock, claim, takeOver, release, store } = await setup(database());
    await claim('A');
    clock.advance(1_000);
    await takeOver('B');
    await release('B');
    expect(await store.inspect('k')).toMatchObject({ state: 'pending', attempt: 2 });
    expect(await claim('C')).toEqual({ kind: 'pending', leaseOver: true });
    expect(await takeOver('C')).toEqual({ kind: 'taken', attempt: 3 });
  });
}

/** What keeps an attempt from being taken over. */
export function describeLeases(database: () => SqlDatabase): void {
  test('an owner that renews keeps its lease, and learns when it is too late', async () => {
    const { clock, claim, takeOver, store } = await setup(database());
    const renew = (owner: string) => store.renew('k', 1_000, attemptOf(owner), within());
    await claim('A');
    clock.advance(900);
    await renew('A');
    await renew('A');
    clock.advance(900);
    expect(await takeOver('B')).toEqual({ kind: 'not-taken' });
    clock.advance(100);
    expect(await takeOver('B')).toEqual({ kind: 'taken', attempt: 2 });
    expect(await failureOf(renew('A'))).toBeInstanceOf(FencedError);
  });

  test('an owner that has locked its record in an open transaction is not taken over', async () => {
    const { clock, claim, takeOver } = await setup(database());
    await claim('A');
    clock.advance(1_000);
    const letGo = await database().lock('k');
    const startMs = performance.now();
    expect(await takeOver('B')).toEqual({ kind: 'not-taken' });
    expect(performance.now() - startMs).toBeLessThan(2_000);
    await letGo();
    expect(await takeOver('B')).toEqual({ kind: 'taken', attempt: 2 });
  });
}
