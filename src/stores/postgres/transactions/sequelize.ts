import type { TransactionAdapter } from '../../../core/transaction.ts';
import type { TransactionGate } from '../../transactions/gate.ts';
import type { LentConnection } from '../../transactions/lent-connection.ts';
import { checkAdapter, type TransactionAdapterOptions } from '../../transactions/options.ts';
import { endRefused } from '../../transactions/transaction-error.ts';
import { postgresAdapter } from '../options.ts';
import { openOnPg, type PgConnection } from './pg-connection.ts';

/** Sequelize 6 on PostgreSQL, as far as it is used here. */
export interface SequelizeDatabase<Transaction> {
  transaction(): Promise<Transaction>;
}

/**
 * Transactions of Sequelize 6 on PostgreSQL. The handler's `tx` is a `Transaction`, to be given to
 * every call as the option `transaction`; its `commit` and `rollback` are the middleware's.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function sequelizeTransactions<Transaction extends object>(
  sequelize: SequelizeDatabase<Transaction>,
  options: TransactionAdapterOptions = {},
): TransactionAdapter<Transaction> {
  checkAdapter(postgresAdapter('sequelizeTransactions'), sequelize, LIBRARY, options);
  const inside = sequelize as unknown as SequelizeInside;
  return {
    dialect: 'postgres',
    begin: (limits) =>
      openOnPg(
        limits,
        options,
        () => lend(inside),
        (connection, gate) => beginOnSequelize<Transaction>(inside, connection, gate),
      ),
  };
}

const LIBRARY = { expected: 'a Sequelize', methods: ['transaction'] };

async function lend({ connectionManager }: SequelizeInside): Promise<LentConnection<PgConnection>> {
  const connection = await connectionManager.getConnection({});
  return {
    client: connection,
    giveBack: (inDoubt) =>
      inDoubt === undefined
        ? connectionManager.releaseConnection(connection)
        : connectionManager.destroyConnection(connection),
  };
}

/**
 * On our connection, since `sequelize.transaction()` sends its BEGIN before anybody can look. As
 * the connection bears no id of the transaction, Sequelize leaves it to us to give it back.
 */
async function beginOnSequelize<Transaction extends object>(
  sequelize: SequelizeInside,
  connection: PgConnection,
  gate: TransactionGate,
) {
  const transaction = new sequelize.constructor.Transaction(sequelize, {});
  transaction.connection = connection;
  await transaction.begin();
  return {
    tx: guarded(transaction, gate) as unknown as Transaction,
    commit: () => transaction.commit(),
    rollback: () => transaction.rollback(),
  };
}

/** Every statement of Sequelize asks its transaction whether it is finished before it goes out. */
function guarded(transaction: SequelizeTransaction, gate: TransactionGate): SequelizeTransaction {
  return new Proxy(transaction, {
    get: (target, name) => {
      if (name === 'finished') gate.check('');
      if (name === 'commit' || name === 'rollback') return refuseEnd;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function refuseEnd(): never {
  throw endRefused();
}

interface SequelizeInside {
  readonly constructor: {
    readonly Transaction: new (sequelize: unknown, options: object) => SequelizeTransaction;
  };
  readonly connectionManager: {
    getConnection(options: object): Promise<PgConnection>;
    releaseConnection(connection: PgConnection): void;
    destroyConnection(connection: PgConnection): Promise<void>;
  };
}

interface SequelizeTransaction {
  connection: PgConnection;
  begin(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}
