import type {
  OpenTransaction,
  TransactionAdapter,
  TransactionLimits,
} from '../../../core/transaction.ts';
import { beginByCallback } from '../../transactions/by-callback.ts';
import { callbackLink, letGo } from '../../transactions/callback-link.ts';
import { TransactionGate } from '../../transactions/gate.ts';
import { GuardedTransaction } from '../../transactions/guarded-transaction.ts';
import { takenInTime } from '../../transactions/in-time.ts';
import { checkAdapter, type TransactionAdapterOptions } from '../../transactions/options.ts';
import { noConnection } from '../../transactions/transaction-error.ts';
import { postgresAdapter } from '../options.ts';
import { guardedSql } from './guarded-sql.ts';
import { settingLimits } from './opening.ts';
import { afterCommit } from './server-word.ts';

/** The `sql` of postgres.js, as far as transactions need it. It is lent, and never ended. */
export interface PostgresJsDatabase<Sql> {
  begin(options: string, callback: (sql: Sql) => Promise<void>): PromiseLike<unknown>;
}

/**
 * Transactions on postgres.js. The handler's `tx` is the `sql` that its `begin` hands out.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function postgresJsTransactions<Sql extends object>(
  sql: PostgresJsDatabase<Sql>,
  options: TransactionAdapterOptions = {},
): TransactionAdapter<Sql> {
  checkAdapter(postgresAdapter('postgresJsTransactions'), sql, LIBRARY, options);
  const { isolationLevel } = options;
  const opening = isolationLevel === undefined ? '' : `isolation level ${isolationLevel}`;
  return {
    dialect: 'postgres',
    begin: (limits) =>
      openOnSql(limits, (callback) => sql.begin(opening, callback), {
        sqlOf: (raw: Sql) => raw,
        txOf: (_raw, guarded) => guarded as Sql,
      }),
  };
}

const LIBRARY = { expected: 'the sql of postgres.js', methods: ['begin'] };

/** How a library that is built on postgres.js keeps its `sql`. */
export interface SqlKeeper<Begun, T> {
  sqlOf(begun: Begun): object;
  txOf(begun: Begun, guarded: object, gate: TransactionGate): T;
}

/** Begins by `run`, and puts the gate before the `sql` of the transaction. */
export async function openOnSql<Begun, T>(
  limits: TransactionLimits,
  run: (callback: (begun: Begun) => Promise<void>) => PromiseLike<unknown>,
  { sqlOf, txOf }: SqlKeeper<Begun, T>,
): Promise<OpenTransaction<T>> {
  const gate = new TransactionGate();
  const begun = await takenInTime(
    limits.lockTimeoutMs,
    beginByCallback(run, (error) => gate.lose(error)),
    noConnection,
    (late) => late.rollback(),
  );
  const sql = sqlOf(begun.tx) as UnsafeSql;
  // Not awaited, so that it costs no round trip: the handler's statements queue behind it, and if
  // it fails, so do they.
  sql.unsafe(settingLimits(limits), [], {}).then(
    () => {},
    () => {},
  );
  const tx = txOf(begun.tx, guardedSql(sql, gate), gate);
  // Prepared, since postgres.js asks for the types of whatever is not, in a round trip of its own.
  const query = (text: string, values: unknown[]) => sql.unsafe(text, values, { prepare: true });
  // postgres.js finds out about a loss by itself, and bears no question then: it would write to a
  // socket that is not there, and end the process.
  const abandon = () => {
    if (gate.loss === undefined) letGo(begun);
  };
  return new GuardedTransaction(
    gate,
    callbackLink(begun, tx, async (text, values) => query(text, values), abandon, afterCommit),
    limits,
  );
}

interface UnsafeSql {
  unsafe(text: string, values: unknown[], options: object): PromiseLike<unknown>;
}
