import { checkArgument } from '../../../core/option-check.ts';
import type { TransactionAdapter } from '../../../core/transaction.ts';
import { beginByCallback } from '../../transactions/by-callback.ts';
import { checkText } from '../../transactions/check-before.ts';
import type { TransactionGate } from '../../transactions/gate.ts';
import { checkAdapter, type TransactionAdapterOptions } from '../../transactions/options.ts';
import { postgresAdapter } from '../options.ts';
import { lend, type PgTransactionPool } from './pg.ts';
import { openOnPg, type PgConnection } from './pg-connection.ts';
import { openOnSql } from './postgres-js.ts';

/** A Drizzle database on `pg` or postgres.js, as far as it is used here. */
export interface DrizzleDatabase<Transaction> {
  transaction<R>(callback: (tx: Transaction) => Promise<R>): Promise<R>;
}

/**
 * Transactions of Drizzle, on a Pool of `pg` or on postgres.js. The handler's `tx` is what
 * `db.transaction` hands out.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function drizzleTransactions<Transaction extends object>(
  db: DrizzleDatabase<Transaction>,
  options: TransactionAdapterOptions = {},
): TransactionAdapter<Transaction> {
  checkAdapter(postgresAdapter('drizzleTransactions'), db, LIBRARY, options);
  const session = (db as unknown as Partial<DrizzleInside>)._?.session;
  const client = session?.client as { connect?: unknown; totalCount?: unknown; begin?: unknown };
  if (session !== undefined && typeof client?.begin === 'function') {
    const config = options.isolationLevel === undefined ? undefined : options;
    const begin = (callback: (tx: Transaction) => Promise<void>) =>
      session.transaction(callback as never, config);
    return {
      dialect: 'postgres',
      begin: (limits) =>
        openOnSql(limits, begin, {
          sqlOf: (tx: Transaction) => sessionOf(tx).client,
          txOf: (tx, guarded, gate) => guardTx(tx, guarded, gate),
        }),
    };
  }
  const isPool = typeof client?.connect === 'function' && typeof client.totalCount === 'number';
  checkArgument(postgresAdapter('drizzleTransactions'), isPool, db, LIBRARY.expected);
  return {
    dialect: 'postgres',
    begin: (limits) =>
      openOnPg(
        limits,
        options,
        () => lend(client as unknown as PgTransactionPool<PgConnection>),
        (lent, gate) => beginOnPg<Transaction>(session as DrizzleSession, lent, gate),
      ),
  };
}

const LIBRARY = {
  expected: 'a database as drizzle(new Pool()) or drizzle(postgres()) makes it',
  methods: ['transaction'],
};

/** On a copy of the session, which has our connection where the other has the pool. */
async function beginOnPg<Transaction extends object>(
  session: DrizzleSession,
  client: PgConnection,
  gate: TransactionGate,
) {
  const ours = Object.assign(Object.create(Object.getPrototypeOf(session)), session, { client });
  const begun = await beginByCallback<Transaction>(
    (callback) => ours.transaction(callback),
    (error) => gate.lose(error),
  );
  const { tx, commit, rollback } = begun;
  return { tx: guardTx(tx, client, gate), commit, rollback };
}

/**
 * Has all that is built on `tx` go out through `client`, and the gate looked at before: what comes
 * too late is refused with our error, and not with one of Drizzle's around it.
 */
function guardTx<Transaction extends object>(
  tx: Transaction,
  client: object,
  gate: TransactionGate,
): Transaction {
  const session = sessionOf(tx);
  const { prepareQuery } = session;
  session.client = client;
  session.prepareQuery = (query, ...others) => {
    checkText(gate, query);
    return prepareQuery.call(session, query, ...others);
  };
  return tx;
}

function sessionOf(db: object): DrizzleSession {
  return (db as DrizzleInside)._.session;
}

interface DrizzleInside {
  readonly _: { readonly session: DrizzleSession };
}

interface DrizzleSession {
  client: object;
  prepareQuery(query: { readonly sql: string }, ...others: unknown[]): unknown;
  transaction(callback: (tx: never) => Promise<void>, config?: object): Promise<unknown>;
}
