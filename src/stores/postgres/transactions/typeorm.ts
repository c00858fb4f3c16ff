import type { TransactionAdapter } from '../../../core/transaction.ts';
import { checkBefore } from '../../transactions/check-before.ts';
import type { TransactionGate } from '../../transactions/gate.ts';
import type { LentConnection } from '../../transactions/lent-connection.ts';
import { checkAdapter, type TransactionAdapterOptions } from '../../transactions/options.ts';
import { endRefused } from '../../transactions/transaction-error.ts';
import { postgresAdapter } from '../options.ts';
import { openOnPg, type PgConnection } from './pg-connection.ts';

/** A `DataSource` of TypeORM, as far as it is used here. */
export interface TypeormDataSource<Manager> {
  createQueryRunner(): TypeormQueryRunner<Manager>;
}

/** A `QueryRunner` of TypeORM, as far as it is used here. */
export interface TypeormQueryRunner<Manager> {
  readonly manager: Manager;
  // biome-ignore lint/suspicious/noExplicitAny: that is how TypeORM declares it
  connect(): Promise<any>;
  startTransaction(): Promise<void>;
  commitTransaction(): Promise<void>;
  rollbackTransaction(): Promise<void>;
  release(): Promise<void>;
}

/**
 * Transactions of TypeORM on PostgreSQL. The handler's `tx` is an `EntityManager`.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function typeormTransactions<Manager>(
  dataSource: TypeormDataSource<Manager>,
  options: TransactionAdapterOptions = {},
): TransactionAdapter<Manager> {
  checkAdapter(postgresAdapter('typeormTransactions'), dataSource, LIBRARY, options);
  return {
    dialect: 'postgres',
    begin: (limits) => {
      const runner = dataSource.createQueryRunner();
      return openOnPg(
        limits,
        options,
        () => lend(runner),
        (client, gate) => beginOnTypeorm(runner, client, gate),
      );
    },
  };
}

const LIBRARY = { expected: 'a DataSource of TypeORM', methods: ['createQueryRunner'] };

async function lend<Manager>(
  runner: TypeormQueryRunner<Manager>,
): Promise<LentConnection<PgConnection>> {
  const inside = runner as unknown as RunnerInside;
  return {
    client: await runner.connect(),
    giveBack: async (inDoubt) => {
      await inside.releasePostgresConnection(inDoubt);
      // TypeORM has an error of its own for a runner that is released; ours says what to do.
      inside.isReleased = false;
    },
  };
}

async function beginOnTypeorm<Manager>(
  runner: TypeormQueryRunner<Manager>,
  client: PgConnection,
  gate: TransactionGate,
) {
  const inside = runner as unknown as RunnerInside;
  inside.databaseConnection = client;
  await runner.startTransaction();
  checkBefore(inside, 'query', gate, 0);
  inside.release = refuseRelease;
  return {
    tx: runner.manager,
    commit: () => runner.commitTransaction(),
    rollback: () => runner.rollbackTransaction(),
  };
}

function refuseRelease(): never {
  throw endRefused();
}

/** What TypeORM's query runner for PostgreSQL has beside its interface. */
interface RunnerInside {
  databaseConnection: PgConnection;
  isReleased: boolean;
  query: (...args: never[]) => unknown;
  release: () => unknown;
  releasePostgresConnection(error: Error | undefined): Promise<void>;
}
