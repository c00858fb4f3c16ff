import type {
  OpenTransaction,
  TransactionAdapter,
  TransactionLimits,
} from '../../../core/transaction.ts';
import { callbackLink, letGo } from '../../transactions/callback-link.ts';
import { TransactionGate } from '../../transactions/gate.ts';
import { GuardedTransaction } from '../../transactions/guarded-transaction.ts';
import { type KyselyDatabase, openKysely } from '../../transactions/kysely.ts';
import { checkAdapter, type TransactionAdapterOptions } from '../../transactions/options.ts';
import { asUndone } from '../../transactions/transaction-error.ts';
import { mysqlAdapter } from '../options.ts';
import { RESTORING_LIMITS, settingLimits } from './limits.ts';
import { commitsByItself } from './mysql-statement.ts';
import { afterCommit, watchFailure } from './server-word.ts';

/**
 * Transactions of Kysely, whose dialect is on a pool of `mysql2`. The handler's `tx` is a
 * `Transaction<Database>`.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function kyselyTransactions<Transaction extends object>(
  db: KyselyDatabase<Transaction>,
  options: TransactionAdapterOptions = {},
): TransactionAdapter<Transaction> {
  checkAdapter(mysqlAdapter('kyselyTransactions'), db, LIBRARY, options);
  return { dialect: 'mysql', begin: (limits) => open(db, limits, options) };
}

const LIBRARY = { expected: 'a Kysely', methods: ['transaction'] };

async function open<Transaction extends object>(
  db: KyselyDatabase<Transaction>,
  limits: TransactionLimits,
  { isolationLevel }: TransactionAdapterOptions,
): Promise<OpenTransaction<Transaction>> {
  const gate = new TransactionGate(commitsByItself);
  const { begun, run, guard } = await openKysely(db, limits, isolationLevel, gate);
  // The limits are taken back before the end, since after it the pool has the connection again.
  const restore = () => run(RESTORING_LIMITS, []);
  const link = callbackLink(begun, begun.tx, run, letGo, afterCommit);
  const restoring = {
    ...link,
    commit: async () => {
      try {
        await restore();
      } catch (error) {
        letGo(begun);
        throw asUndone(error);
      }
      await link.commit();
    },
    rollback: async () => {
      await restore().catch(() => {});
      await link.rollback();
    },
  };
  const transaction = new GuardedTransaction(gate, restoring, limits);
  try {
    await run(settingLimits(limits), []);
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
  guard((error) => watchFailure(gate, error));
  return transaction;
}
