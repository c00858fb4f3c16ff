import type { TransactionLimits } from '../../core/transaction.ts';
import { beginByCallback, type CallbackTransaction } from './by-callback.ts';
import type { TransactionGate } from './gate.ts';
import { type CompiledQuery, guardExecutor, type KyselyExecutor } from './guarded-executor.ts';
import { takenInTime } from './in-time.ts';
import type { IsolationLevel } from './options.ts';
import { noConnection } from './transaction-error.ts';

/** A Kysely database, as far as it is used here. */
export interface KyselyDatabase<Transaction> {
  transaction(): KyselyTransactionBuilder<Transaction>;
}

/** What begins a transaction of Kysely. */
export interface KyselyTransactionBuilder<Transaction> {
  setIsolationLevel(level: IsolationLevel): KyselyTransactionBuilder<Transaction>;
  execute<R>(callback: (trx: Transaction) => Promise<R>): Promise<R>;
}

/** A transaction of Kysely, and a way past its gate. */
export interface OpenKysely<Transaction> {
  readonly begun: CallbackTransaction<Transaction>;
  run(text: string, parameters: unknown[]): Promise<unknown>;
  /** Puts the gate before all that is built on it; `watch` is told what failed. */
  guard(watch: (error: unknown) => void): void;
}

/** Has Kysely begin a transaction. */
export async function openKysely<Transaction extends object>(
  db: KyselyDatabase<Transaction>,
  limits: TransactionLimits,
  isolationLevel: IsolationLevel | undefined,
  gate: TransactionGate,
): Promise<OpenKysely<Transaction>> {
  const builder = db.transaction();
  const leveled =
    isolationLevel === undefined ? builder : builder.setIsolationLevel(isolationLevel);
  const begun = await takenInTime(
    limits.lockTimeoutMs,
    beginByCallback<Transaction>(
      (callback) => leveled.execute(callback),
      (error) => gate.lose(error),
    ),
    noConnection,
    (late) => late.rollback(),
  );
  const executor = (begun.tx as unknown as { getExecutor(): KyselyExecutor }).getExecutor();
  // Past plugins, too, which would rename columns.
  const run = async (text: string, parameters: unknown[]) =>
    executor.provideConnection((connection) => connection.executeQuery(raw(text, parameters)));
  return { begun, run, guard: (watch) => guardExecutor(executor, gate, watch) };
}

/** As `CompiledQuery.raw` of Kysely makes it. */
function raw(sql: string, parameters: unknown[]): CompiledQuery {
  const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] };
  return { sql, parameters, query, queryId: { queryId: 'express-idempotent' } } as CompiledQuery;
}
