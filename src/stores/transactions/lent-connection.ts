import { isUndone, type OpenTransaction, type TransactionLimits } from '../../core/transaction.ts';
import type { TransactionGate } from './gate.ts';
import {
  type ConnectionDialect,
  type DriverConnection,
  GuardedConnection,
} from './guarded-connection.ts';
import { GuardedTransaction, patienceMs } from './guarded-transaction.ts';
import { inTime, takenInTime } from './in-time.ts';
import { noAnswer, noConnection } from './transaction-error.ts';

/** A connection out of the pool of a library. */
export interface LentConnection<Client> {
  readonly client: Client;
  /** Puts it back into the pool; with an error the pool is to drop it. */
  giveBack(inDoubt: Error | undefined): unknown;
}

/** A transaction that a library has begun. */
export interface BegunTransaction<T> {
  readonly tx: T;
  commit(): PromiseLike<unknown>;
  rollback(): PromiseLike<unknown>;
}

/** How a library comes to a connection, and begins on it. */
export interface Lending<Client, T> {
  readonly gate: TransactionGate;
  readonly dialect: ConnectionDialect<Client>;
  lend(): Promise<LentConnection<Client>>;
  begin(client: Client, gate: TransactionGate): Promise<BegunTransaction<T>>;
}

/**
 * Takes a connection, has the library begin on it, and guards both. A connection whose state is not
 * known is reset and dropped.
 */
export async function openOnLoan<Client extends DriverConnection, T>(
  limits: TransactionLimits,
  { gate, dialect, lend, begin }: Lending<Client, T>,
): Promise<OpenTransaction<T>> {
  const lent = await takenInTime(limits.lockTimeoutMs, lend(), noConnection, (late) =>
    late.giveBack(undefined),
  );
  const guard = new GuardedConnection(lent.client, gate, dialect);
  let isBack = false;
  const giveBack = (inDoubt?: Error) => {
    if (isBack) return;
    isBack = true;
    gate.close();
    if (inDoubt !== undefined) guard.reset();
    guard.leave();
    lent.giveBack(inDoubt ?? gate.loss);
  };
  try {
    const begun = await inTime(patienceMs(limits), begin(guard.client, gate), noAnswer);
    const link = {
      tx: begun.tx,
      run: (text: string, values: unknown[]) => guard.run(text, values),
      commit: async () => {
        try {
          await guard.commit(() => begun.commit());
        } catch (error) {
          if (isUndone(error)) giveBack(guard.isIdle ? undefined : (error as Error));
          throw error;
        }
        giveBack();
      },
      rollback: async () => {
        await guard.rollback(() => begun.rollback());
        giveBack();
      },
      destroy: () => giveBack(new Error('The state of the connection is not known.')),
    };
    return new GuardedTransaction(gate, link, limits);
  } catch (error) {
    giveBack(error as Error);
    throw error;
  }
}
