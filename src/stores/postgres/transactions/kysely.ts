import type {
  OpenTransaction,
  TransactionAdapter,
  TransactionLimits,
} from '../../../core/transaction.ts';
import { A_FUNCTION, checkOptions } from '../../option-check.ts';
import { beginByCallback } from '../../transactions/by-callback.ts';
import { callbackLink, letGo } from '../../transactions/callback-link.ts';
import { TransactionGate } from '../../transactions/gate.ts';
import {
  type CompiledQuery,
  guardExecutor,
  type KyselyExecutor,
} from '../../transactions/guarded-executor.ts';
import { GuardedTransaction } from '../../transactions/guarded-transaction.ts';
import { takenInTime } from '../../transactions/in-time.ts';
import {
  ISOLATION_LEVEL,
  type IsolationLevel,
  type TransactionAdapterOptions,
} from '../../transactions/options.ts';
import { noConnection } from '../../transactions/transaction-error.ts';
import { limitsQuery } from './opening.ts';
import { afterCommit } from './server-word.ts';

/** A Kysely database on PostgreSQL, as far as it is used here. */
export interface KyselyDatabase<Transaction> {
  transaction(): KyselyTransactionBuilder<Transaction>;
}

/** What begins a transaction of Kysely. */
export interface KyselyTransactionBuilder<Transaction> {
  setIsolationLevel(level: IsolationLevel): KyselyTransactionBuilder<Transaction>;
  execute<R>(callback: (trx: Transaction) => Promise<R>): Promise<R>;
}

/** The options of {@link kyselyTransactions}. */
export interface KyselyTransactionOptions extends TransactionAdapterOptions {
  /**
   * The Pool of `pg` that the dialect of Kysely was given. Nobody listens to a connection that
   * Kysely has in use, and one that PostgreSQL ends while it is idle would end the process; with the
   * pool the adapter listens, and has PostgreSQL end transactions that stand still.
   */
  readonly pool?: KyselyPool;
}

/** The events of a Pool of `pg`. */
export interface KyselyPool {
  on(event: 'acquire', listener: (client: KyselyClient) => void): unknown;
}

/** The events of a client of `pg`. */
export interface KyselyClient {
  on(event: 'error', listener: () => void): unknown;
  listeners(event: 'error'): unknown[];
}

/**
 * Transactions of Kysely, whose dialect is on a Pool of `pg`. The handler's `tx` is a
 * `Transaction<Database>`.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function kyselyTransactions<Transaction extends object>(
  db: KyselyDatabase<Transaction>,
  options: KyselyTransactionOptions = {},
): TransactionAdapter<Transaction> {
  checkOptions('kyselyTransactions', options, { isolationLevel: ISOLATION_LEVEL, pool: A_POOL });
  const { isolationLevel, pool } = options;
  if (pool !== undefined) listenTo(pool);
  return {
    dialect: 'postgres',
    begin: (limits) => {
      const builder = db.transaction();
      const leveled =
        isolationLevel === undefined ? builder : builder.setIsolationLevel(isolationLevel);
      const asked = limitsQuery(limits, pool !== undefined);
      return open(limits, (callback) => leveled.execute(callback), asked);
    },
  };
}

async function open<Transaction extends object>(
  limits: TransactionLimits,
  run: (callback: (trx: Transaction) => Promise<void>) => Promise<unknown>,
  limitsText: string,
): Promise<OpenTransaction<Transaction>> {
  const gate = new TransactionGate();
  const begun = await takenInTime(
    limits.lockTimeoutMs,
    beginByCallback(run, (error) => gate.lose(error)),
    noConnection,
    (late) => late.rollback(),
  );
  const executor = (begun.tx as unknown as { getExecutor(): KyselyExecutor }).getExecutor();
  const runOurs = async (text: string, parameters: unknown[]) =>
    // Past the gate, and past plugins, which would rename columns.
    executor.provideConnection((connection) => connection.executeQuery(raw(text, parameters)));
  const link = callbackLink(begun, begun.tx, runOurs, letGo, afterCommit);
  const transaction = new GuardedTransaction(gate, link, limits);
  try {
    await runOurs(limitsText, []);
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
  guardExecutor(executor, gate);
  return transaction;
}

/** As `CompiledQuery.raw` of Kysely makes it. */
function raw(sql: string, parameters: unknown[]): CompiledQuery {
  const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] };
  return { sql, parameters, query, queryId: { queryId: 'express-idempotent' } } as CompiledQuery;
}

/** Once a pool, and once a client: listeners stay as long as these do. */
function listenTo(pool: KyselyPool): void {
  if (LISTENED.has(pool)) return;
  LISTENED.add(pool);
  pool.on('acquire', (client) => {
    if (!client.listeners('error').includes(ignore)) client.on('error', ignore);
  });
}

const LISTENED = new WeakSet<KyselyPool>();

/** Whoever uses the connection next is told that it is gone. */
function ignore(): void {}

const A_POOL = {
  expected: 'the Pool of pg that the dialect was given',
  holds: (value: unknown) => A_FUNCTION.holds((value as Partial<KyselyPool> | null)?.on),
};
