import { checkBefore } from './check-before.ts';
import type { TransactionGate } from './gate.ts';
import type { DriverConnection } from './guarded-connection.ts';
import type { BegunTransaction, LentConnection } from './lent-connection.ts';
import { endRefused } from './transaction-error.ts';

/** Knex, as far as it is used here. */
export interface KnexDatabase<Transaction> {
  // biome-ignore lint/suspicious/noExplicitAny: that is how knex declares its client
  readonly client: any;
  transaction<R>(scope: (trx: Transaction) => Promise<R>): Promise<R>;
}

/** Takes a connection out of the pool of Knex. */
export async function lendFromKnex<Client extends DriverConnection>(
  client: KnexClient<Client>,
): Promise<LentConnection<Client>> {
  const connection: Client & KnexMarks = await client.acquireConnection();
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

/** Has Knex begin on `connection`. */
export async function beginOnKnex<Transaction extends object>(
  knex: KnexDatabase<Transaction>,
  connection: DriverConnection,
  gate: TransactionGate,
): Promise<BegunTransaction<Transaction>> {
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

interface KnexClient<Client> {
  acquireConnection(): Promise<Client>;
  releaseConnection(connection: Client): Promise<unknown>;
}

interface KnexMarks {
  __knexTxId?: unknown;
  __knex__disposed?: unknown;
}

interface KnexTransaction {
  readonly client: { query: (...args: never[]) => unknown };
  readonly executionPromise: Promise<unknown>;
  commit(): unknown;
  rollback(): unknown;
}
