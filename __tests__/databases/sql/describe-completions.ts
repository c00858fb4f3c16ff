import { FencedError } from '../../../src/core/errors.ts';
import type { MySqlStore } from '../../../src/stores/mysql/index.ts';
import type { PostgresStore } from '../../../src/stores/postgres/index.ts';
import { attemptOf, failureOf, RESPONSE } from '../calls.ts';
import { setup } from './recovery-scene.ts';
import type { SqlDatabase, SqlStore } from './sql-database.ts';

type Tx = Parameters<PostgresStore['completeIn']>[0] | Parameters<MySqlStore['completeIn']>[0];

/** Runs `write` in a transaction that has made a label, and rolls back when it throws. */
export type InTransaction = (write: (tx: Tx) => Promise<unknown>) => Promise<void>;

/** `completeIn`, in transactions of each kind. */
export function describeCompletions(
  database: () => SqlDatabase,
  transactions: { readonly [kind: string]: InTransaction },
): void {
  describe.each(Object.entries(transactions))('in a transaction of %s', (_, inTransaction) => {
    test('what was written and the saved response are committed together', async () => {
      const { claim, store, labels } = await setup(database());
      await claim('A');
      await inTransaction(async (tx) => {
        await completeIn(store, tx);
        expect((await claim('B')).kind).toBe('pending');
      });
      expect(await labels()).toEqual([{ name: 'made' }]);
      expect(await claim('B')).toEqual({ kind: 'replay', response: RESPONSE });
    });

    test('a superseded owner is fenced, and nothing that it wrote stays', async () => {
      const { clock, claim, takeOver, store, labels } = await setup(database());
      await claim('A');
      clock.advance(1_000);
      await takeOver('B');
      const superseded = inTransaction((tx) => completeIn(store, tx));
      expect(await failureOf(superseded)).toBeInstanceOf(FencedError);
      expect(await labels()).toEqual([]);
      expect((await store.inspect('k'))?.state).toBe('pending');
    });

    test('what was written once is not written again when it is sent a second time', async () => {
      const { claim, store, labels } = await setup(database());
      await claim('A');
      const once = () => inTransaction((tx) => completeIn(store, tx));
      await once();
      expect(await failureOf(once())).toBeInstanceOf(FencedError);
      expect(await labels()).toHaveLength(1);
    });
  });
}

/** The type of a store and that of its transactions are of one dialect. */
function completeIn(store: SqlStore, tx: Tx): Promise<void> {
  return store.completeIn(tx as never, 'k', RESPONSE, attemptOf('A'));
}
