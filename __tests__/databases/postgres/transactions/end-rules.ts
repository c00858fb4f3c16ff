import { setTimeout as delay } from 'node:timers/promises';
import { isUndone } from '../../../../src/core/transaction.ts';
import { failureOf } from '../../calls.ts';
import type { TransactionRule } from './rig.ts';

/** What is sent late, too much, or by whom it is not to be sent. */
export const END_RULES: readonly TransactionRule[] = [
  {
    rule: 'what is asked of it after its end is refused, and runs nowhere',
    async check(rig) {
      const committed = await rig.begin();
      await rig.complete(committed);
      expect((await failureOf(rig.insert(committed.tx, 'early'))).code).toBe('transaction_over');
      await committed.commit();
      const undone = await rig.begin();
      await undone.rollback();
      for (const { tx } of [committed, undone]) {
        const { code } = await failureOf(rig.insert(tx, 'late'));
        expect(code).toBe('transaction_over');
        expect((await failureOf(rig.raw(tx, 'select 1'))).code).toBe('transaction_over');
      }
      expect((await rig.committed()).labels).toEqual([]);
    },
  },
  {
    rule: 'a query that was built before the end and is awaited after it is refused',
    async check(rig) {
      const transaction = await rig.begin();
      const built = rig.connected.insert(transaction.tx, 'late');
      if (!rig.library.isLazy) await built;
      await rig.complete(transaction);
      await transaction.commit();
      if (rig.library.isLazy) {
        const { code } = await failureOf(Promise.resolve(built));
        expect(code).toBe('transaction_over');
      }
      expect((await rig.committed()).labels).toEqual(rig.library.isLazy ? [] : ['late']);
    },
  },
  {
    rule: 'the handler cannot end it, and goes on in it after trying to',
    async check(rig) {
      const transaction = await rig.begin();
      await rig.insert(transaction.tx, 'made');
      for (const end of rig.connected.ends) {
        const { code } = await failureOf((async () => end(transaction.tx))());
        expect(code).toBe('transaction_end_refused');
      }
      expect((await rig.committed()).labels).toEqual([]);
      await rig.complete(transaction);
      await transaction.commit();
      expect(await rig.committed()).toEqual({ labels: ['made'], record: 'completed' });
    },
  },
  {
    rule: 'statements that are still queued when one has failed are waited for',
    max: 1,
    async check(rig) {
      const transaction = await rig.begin();
      const all = [
        rig.insert(transaction.tx, 'one'),
        rig.raw(transaction.tx, 'select 1 / 0'),
        rig.insert(transaction.tx, 'two'),
        rig.raw(transaction.tx, 'select pg_sleep(0.2)'),
      ];
      await failureOf(Promise.all(all));
      await transaction.rollback();
      await Promise.allSettled(all);
      expect(await rig.openOnServer()).toBe(0);
      const next = await rig.begin();
      await rig.insert(next.tx, 'next');
      await next.commit();
      expect((await rig.committed()).labels).toEqual(['next']);
    },
  },
  {
    rule: 'statements that nobody awaits are part of what is committed',
    max: 1,
    async check(rig) {
      const transaction = await rig.begin();
      const slow = rig.raw(transaction.tx, "insert into labels select 'slow' from pg_sleep(0.3)");
      await delay(20);
      await rig.complete(transaction);
      await transaction.commit();
      await slow;
      expect(await rig.committed()).toEqual({ labels: ['slow'], record: 'completed' });
    },
  },
  {
    rule: 'what goes wrong in a savepoint is undone there, and the rest is committed',
    async check(rig) {
      const { savepoint } = rig.connected;
      const transaction = await rig.begin();
      await rig.insert(transaction.tx, 'made');
      const failing = savepoint?.(transaction.tx, async (inner) => {
        await rig.insert(inner, 'undone');
        throw new Error('undo this part');
      });
      expect((await failing?.catch(({ message }) => message)) ?? 'undo this part').toBe(
        'undo this part',
      );
      await rig.complete(transaction);
      await transaction.commit();
      expect(await rig.committed()).toEqual({ labels: ['made'], record: 'completed' });
    },
  },
  {
    rule: 'a savepoint that nobody awaits cannot undo the saved response',
    async check(rig) {
      const transaction = await rig.begin();
      const going = rig.connected.savepoint?.(transaction.tx, async (inner) => {
        await rig.insert(inner, 'one');
        await delay(200);
        await rig.insert(inner, 'two');
      });
      const outcome = going?.catch(({ code }) => code);
      await delay(50);
      await rig.complete(transaction);
      const refusal = await transaction.commit().catch((error: unknown) => error);
      if (refusal !== undefined) expect(isUndone(refusal)).toBe(true);
      const { labels, record } = await rig.committed();
      expect(labels).not.toContain('two');
      expect(record).toBe(refusal === undefined ? 'completed' : 'pending');
      if (refusal !== undefined) expect(labels).toEqual([]);
      expect(['transaction_over', undefined]).toContain(await outcome);
    },
  },
];
