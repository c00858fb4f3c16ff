import type { TransactionAdapter } from '../../../core/transaction.ts';
import { checkBefore } from '../../transactions/check-before.ts';
import type { TransactionGate } from '../../transactions/gate.ts';
import type { LentConnection } from '../../transactions/lent-connection.ts';
import { checkAdapterOptions, type TransactionAdapterOptions } from '../../transactions/options.ts';
import { endRefused } from '../../transactions/transaction-error.ts';
import { openOnPg, type PgConnection } from './pg-connection.ts';

/** Knex on PostgreSQL, as far as it is used here. */
export interface KnexDatabase<Transaction> {
  // biome-ignore lint/suspicious/noExplicitAny: that is how knex declares its client
  readonly client: any;
  transaction<R>(scope: (trx: Transaction) => Promise<R>): Promise<R>;
}

/**
 * Transactions of Knex with the client `pg`. The handler's `tx` is a `Knex.Transaction`; its
 * `commit` and `rollback` are the middleware's.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function knexTransactions<Transaction extends object>(
  knex: KnexDatabase<Transaction>,
  options: TransactionAdapterOptions = {},
): TransactionAdapter<Transaction> {
  checkAdapterOptions('knexTransactions', options);
  return {
    dialect: 'postgres',
    begin: (limits) =>
      openOnPg(
        limits,
        options,
        () => lend(knex.client),
        (connection, gate) => beginOnKnex(knex, connection, gate),
      ),
  };
}

async function lend(client: KnexClient): Promise<LentConnection<KnexConnection>> {
  const connection = await client.acquireConnection();
  return {
    client: connection,
    giveBack: (inDoubt) => {
      delete connection.__knexTxId;
      // What Knex itself says of a connection that its pool is not to lend again.
      if (inDoubt !== undefined) connection.__knex__disposed = inDoubt;
      return client.releaseConnection(connection);
    },
  };
}

async function beginOnKnex<Transaction extends object>(
  knex: KnexDatabase<Transaction>,
  connection: KnexConnection,
  gate: TransactionGate,
) {
  const inside = knex as unknown as KnexInside<Transaction>;
  const trx = await inside.transaction(undefined, { connection });
  const { client, commit, rollback, executionPromise } = trx as unknown as KnexTransaction;
  checkBefore(client, 'query', gate, 1);
  Object.assign(trx, { commit: refuseEnd, rollback: refuseEnd });
  // The promises of the two calls hide failures.
  const end = (by: () => unknown) => {
    by();
    return executionPromise;
  };
  return { tx: trx, commit: () => end(commit), rollback: () => end(rollback) };
}

function refuseEnd(): never {
  throw endRefused();
}

interface KnexInside<Transaction> {
  transaction(scope: undefined, config: { readonly connection: unknown }): Promise<Transaction>;
}

interface KnexClient {
  acquireConnection(): Promise<KnexConnection>;
  releaseConnection(connection: KnexConnection): Promise<unknown>;
}

interface KnexConnection extends PgConnection {
  __knexTxId?: unknown;
  __knex__disposed?: unknown;
}

interface KnexTransaction {
  readonly client: { query: (...args: never[]) => unknown };
  readonly executionPromise: Promise<unknown>;
  commit(): unknown;
  rollback(): unknown;
}
