import { A_FUNCTION, checkOptions } from '../../../core/option-check.ts';
import type {
  OpenTransaction,
  TransactionAdapter,
  TransactionLimits,
} from '../../../core/transaction.ts';
import { callbackLink, letGo } from '../../transactions/callback-link.ts';
import { TransactionGate } from '../../transactions/gate.ts';
import { GuardedTransaction } from '../../transactions/guarded-transaction.ts';
import { type KyselyDatabase, openKysely } from '../../transactions/kysely.ts';
import {
  checkLibrary,
  ISOLATION_LEVEL,
  type TransactionAdapterOptions,
} from '../../transactions/options.ts';
import { postgresAdapter } from '../options.ts';
import { limitsQuery } from './opening.ts';
import { afterCommit } from './server-word.ts';

/** The options of {@link kyselyTransactions}. */
export interface KyselyTransactionOptions extends TransactionAdapterOptions {
  /**
   * The Pool of `pg` that the dialect of Kysely was given. Nobody listens to a connection that
   * Kysely has in use, and one that PostgreSQL ends while it is idle would end the process; with
   * the pool the adapter listens, and has PostgreSQL end transactions that stand still.
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
  checkLibrary(OWNER, db, 'a Kysely', ['transaction']);
  checkOptions<KyselyTransactionOptions>(OWNER, options, {
    isolationLevel: ISOLATION_LEVEL,
    pool: A_POOL,
  });
  if (options.pool !== undefined) listenTo(options.pool);
  return {
    dialect: 'postgres',
    begin: (limits) => open(db, limits, options),
  };
}

async function open<Transaction extends object>(
  db: KyselyDatabase<Transaction>,
  limits: TransactionLimits,
  { isolationLevel, pool }: KyselyTransactionOptions,
): Promise<OpenTransaction<Transaction>> {
  const gate = new TransactionGate();
  const { begun, run, guard } = await openKysely(db, limits, isolationLevel, gate);
  const link = callbackLink(begun, begun.tx, run, letGo, afterCommit);
  const transaction = new GuardedTransaction(gate, link, limits);
  try {
    await run(limitsQuery(limits, pool !== undefined), []);
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
  // A transaction that has failed says so by itself, to each statement that follows.
  guard(() => {});
  return transaction;
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

const OWNER = postgresAdapter('kyselyTransactions');
const A_POOL = {
  expected: 'the Pool of pg that the dialect was given',
  isSecret: true as const,
  holds: (value: unknown) => A_FUNCTION.holds((value as Partial<KyselyPool> | null)?.on),
};
