import { FencedError } from '../../../../src/core/errors.ts';
import { isUndone } from '../../../../src/core/transaction.ts';
import { failureOf, RESPONSE } from '../../calls.ts';
import type { TransactionRig, TransactionRule } from './rig.ts';

/** What a commit is, and what is none. */
export const COMMIT_RULES: readonly TransactionRule[] = [
  {
    rule: 'the row and the saved response are committed together',
    async check(rig) {
      const transaction = await rig.begin();
      await rig.insert(transaction.tx, 'made');
      await rig.complete(transaction);
      expect(await rig.committed()).toEqual({ labels: [], record: 'pending' });
      await transaction.commit();
      expect(await rig.committed()).toEqual({ labels: ['made'], record: 'completed' });
      const replay = await rig.calls.claim('B');
      expect(replay).toEqual({ kind: 'replay', response: RESPONSE });
      expect(await rig.openOnServer()).toBe(0);
    },
  },
  {
    rule: 'a rollback undoes the row and the saved response, and the connection is used again',
    max: 1,
    async check(rig) {
      const transaction = await rig.begin();
      await rig.insert(transaction.tx, 'made');
      await rig.complete(transaction);
      await transaction.rollback();
      expect(await rig.committed()).toEqual({ labels: [], record: 'pending' });
      const next = await rig.begin();
      await rig.insert(next.tx, 'next');
      await next.commit();
      expect((await rig.committed()).labels).toEqual(['next']);
    },
  },
  {
    rule: 'a superseded owner is fenced out, and nothing that it wrote stays',
    async check(rig) {
      const transaction = await rig.begin();
      await rig.insert(transaction.tx, 'late');
      await rig.takeOver('B');
      expect(await failureOf(rig.complete(transaction))).toBeInstanceOf(FencedError);
      await transaction.rollback();
      expect(await rig.committed()).toEqual({ labels: [], record: 'pending' });
    },
  },
  {
    rule: 'a commit whose reply was lost rejects, and says that it cannot tell',
    async check(rig) {
      const transaction = await rig.begin();
      await rig.insert(transaction.tx, 'made');
      await rig.complete(transaction);
      rig.proxy.mode = 'eat-reply';
      const error = await failureOf(transaction.commit());
      expect(isUndone(error)).toBe(false);
      expect(rig.proxy.eaten).toBe(1);
      rig.proxy.mode = 'pass';
      expect(await rig.committed()).toEqual({ labels: ['made'], record: 'completed' });
      await begunAgain(rig);
    },
  },
  {
    rule: 'a failed statement that the handler keeps to itself is never committed',
    max: 1,
    async check(rig) {
      const transaction = await rig.begin();
      await rig.insert(transaction.tx, 'made');
      await failureOf(rig.raw(transaction.tx, 'select 1 / 0'));
      const error = await failureOf(rig.complete(transaction));
      expect(error.code).toBe('transaction_aborted');
      await transaction.rollback();
      expect(await rig.committed()).toEqual({ labels: [], record: 'pending' });
      await begunAgain(rig);
    },
  },
  {
    rule: 'a commit of a transaction that had failed rejects as undone, and resolves for nobody',
    max: 1,
    async check(rig) {
      const transaction = await rig.begin();
      await rig.insert(transaction.tx, 'made');
      await failureOf(rig.raw(transaction.tx, 'select 1 / 0'));
      expect(isUndone(await failureOf(transaction.commit()))).toBe(true);
      expect((await rig.committed()).labels).toEqual([]);
      await begunAgain(rig);
    },
  },
  {
    rule: 'a constraint that fails at the commit is a rejection as undone',
    max: 1,
    async check(rig) {
      await rig.query("insert into labels values ('taken')");
      const transaction = await rig.begin();
      await rig.insert(transaction.tx, 'taken');
      await rig.complete(transaction);
      expect(isUndone(await failureOf(transaction.commit()))).toBe(true);
      expect(await rig.committed()).toEqual({ labels: ['taken'], record: 'pending' });
      await begunAgain(rig);
    },
  },
  {
    rule: 'a commit that cannot be serialized is a rejection as undone',
    max: 1,
    async check(rig) {
      const transaction = await rig.begin({}, { isolationLevel: 'serializable' });
      await rig.raw(transaction.tx, 'select * from labels');
      await rig.insert(transaction.tx, 'one');
      const other = await rig.connect();
      await other.query('begin isolation level serializable; select * from labels');
      await other.query("insert into labels values ('other'); commit");
      other.release();
      expect(isUndone(await failureOf(transaction.commit()))).toBe(true);
      expect((await rig.committed()).labels).toEqual(['other']);
      await begunAgain(rig);
    },
  },
];

/** The pool of the library is in order. */
async function begunAgain<T>(rig: TransactionRig<T>): Promise<void> {
  const transaction = await rig.begin();
  await rig.insert(transaction.tx, 'again');
  await transaction.commit();
  expect((await rig.committed()).labels).toContain('again');
  expect(await rig.openOnServer()).toBe(0);
}
