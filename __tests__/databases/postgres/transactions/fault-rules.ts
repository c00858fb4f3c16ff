import { setTimeout as delay } from 'node:timers/promises';
import { isUndone } from '../../../../src/core/transaction.ts';
import { failureOf } from '../../calls.ts';
import type { TransactionRule } from './rig.ts';

/** Limits, lost connections, and pools that have none. */
export const FAULT_RULES: readonly TransactionRule[] = [
  {
    rule: 'a statement that takes too long is ended by the server, and nothing is committed',
    max: 1,
    async check(rig) {
      const transaction = await rig.begin({ statementTimeoutMs: 300 });
      await rig.insert(transaction.tx, 'made');
      await failureOf(rig.raw(transaction.tx, 'select pg_sleep(20)'));
      expect(isUndone(await failureOf(transaction.commit()))).toBe(true);
      expect((await rig.committed()).labels).toEqual([]);
    },
  },
  {
    rule: 'a wait for a lock is ended by the server, and nothing is committed',
    async check(rig) {
      const other = await rig.connect();
      await other.query('begin; lock table labels');
      const transaction = await rig.begin({ lockTimeoutMs: 300 });
      await failureOf(rig.insert(transaction.tx, 'made'));
      await other.query('rollback');
      other.release();
      expect(isUndone(await failureOf(transaction.commit()))).toBe(true);
      expect((await rig.committed()).labels).toEqual([]);
    },
  },
  {
    rule: 'a transaction that stands still is ended by the server, and the process lives on',
    max: 1,
    async check(rig) {
      const transaction = await rig.begin({ idleTimeoutMs: 300 });
      await rig.insert(transaction.tx, 'made');
      await rig.query('select pg_sleep(0.6)');
      expect(await rig.openOnServer()).toBe(0);
      expect(isUndone(await failureOf(transaction.commit()))).toBe(true);
      const next = await rig.begin();
      await rig.insert(next.tx, 'next');
      await next.commit();
      expect((await rig.committed()).labels).toEqual(['next']);
    },
  },
  {
    rule: 'the limits end with the transaction',
    max: 1,
    async check(rig) {
      const transaction = await rig.begin({ statementTimeoutMs: 300 });
      await transaction.commit();
      await rig.connected.query('select pg_sleep(0.6)');
      expect(await rig.openOnServer()).toBe(0);
    },
  },
  {
    rule: 'an exhausted pool is a rejection in time, and what came late is given back',
    max: 1,
    async check(rig) {
      const first = await rig.begin();
      const { code } = await failureOf(rig.begin({ lockTimeoutMs: 300 }));
      expect(code).toBe('store_no_connection');
      await first.rollback();
      await delay(100);
      expect(await rig.openOnServer()).toBe(0);
      const next = await rig.begin();
      await rig.insert(next.tx, 'next');
      await next.commit();
      expect((await rig.committed()).labels).toEqual(['next']);
    },
  },
  {
    rule: 'what is sent after the connection was lost runs on no other one',
    async check(rig) {
      const transaction = await rig.begin();
      await rig.insert(transaction.tx, 'made');
      rig.proxy.cut();
      const late = [];
      for (let n = 0; n < 20; n += 1) {
        late.push(failureOf(rig.insert(transaction.tx, `late ${n}`)));
        await delay(10);
      }
      await Promise.all(late);
      expect(isUndone(await failureOf(transaction.commit()))).toBe(true);
      await rig.untilNoneIsOpen();
      expect((await rig.committed()).labels).toEqual([]);
      const next = await rig.begin();
      await rig.insert(next.tx, 'next');
      await next.commit();
      expect((await rig.committed()).labels).toEqual(['next']);
    },
  },
  {
    rule: 'a rollback over a half-open connection resolves in time, and nothing takes effect',
    async check(rig) {
      const transaction = await rig.begin({ statementTimeoutMs: 500, idleTimeoutMs: 800 });
      await rig.insert(transaction.tx, 'made');
      rig.proxy.mode = 'hole';
      const startMs = performance.now();
      await transaction.rollback();
      expect(performance.now() - startMs).toBeLessThan(10_000);
      await rig.untilNoneIsOpen();
      expect((await rig.committed()).labels).toEqual([]);
    },
  },
  {
    rule: 'a commit over a half-open connection rejects in time, and says that it cannot tell',
    async check(rig) {
      const transaction = await rig.begin({ statementTimeoutMs: 500, idleTimeoutMs: 800 });
      await rig.complete(transaction);
      rig.proxy.mode = 'hole';
      const startMs = performance.now();
      expect(isUndone(await failureOf(transaction.commit()))).toBe(false);
      expect(performance.now() - startMs).toBeLessThan(10_000);
    },
  },
  {
    rule: 'a rollback while a statement of ours is under way resolves, and undoes it',
    max: 1,
    async check(rig) {
      const transaction = await rig.begin();
      const slow = transaction.query("insert into labels select 'slow' from pg_sleep(0.3)", []);
      const outcome = slow.catch(() => {});
      await delay(50);
      await transaction.rollback();
      await outcome;
      expect(await rig.openOnServer()).toBe(0);
      expect((await rig.committed()).labels).toEqual([]);
      expect((await failureOf(transaction.query('select 1', []))).code).toBe('transaction_over');
      expect((await failureOf(transaction.commit())).code).toBe('transaction_over');
    },
  },
  {
    rule: 'many transactions leave no listener and no connection behind',
    async check(rig) {
      const warnings: string[] = [];
      const warn = (warning: Error) => warnings.push(String(warning));
      process.on('warning', warn);
      const run = async (n: number) => {
        const transaction = await rig.begin({ lockTimeoutMs: 20_000 });
        await rig.insert(transaction.tx, `row ${n}`);
        await (n % 2 === 0 ? transaction.commit() : transaction.rollback());
      };
      for (let n = 0; n < 12; n += 1) await run(n);
      await Promise.all(Array.from({ length: 48 }, (_, n) => run(100 + n)));
      await delay(10);
      process.removeListener('warning', warn);
      expect(warnings).toEqual([]);
      expect((await rig.committed()).labels).toHaveLength(30);
      expect(await rig.openOnServer()).toBe(0);
      expect(rig.proxy.connections).toBeLessThanOrEqual(3);
    },
  },
  {
    rule: 'a request costs no more round trips than it needs',
    max: 1,
    async check(rig) {
      const run = async () => {
        const before = rig.proxy.trips;
        const transaction = await rig.begin();
        const begun = rig.proxy.trips;
        await rig.insert(transaction.tx, 'made');
        await rig.complete(transaction);
        await transaction.commit();
        await rig.query('truncate labels; update idempotency_records set state = 0');
        return { begin: begun - before, all: rig.proxy.trips - before };
      };
      await run();
      expect(await run()).toEqual(rig.library.trips);
    },
  },
];
