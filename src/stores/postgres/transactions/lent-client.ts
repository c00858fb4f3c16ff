import {
  isUndone,
  type OpenTransaction,
  type TransactionLimits,
} from '../../../core/transaction.ts';
import { TransactionGate } from '../../transactions/gate.ts';
import { GuardedTransaction, patienceMs } from '../../transactions/guarded-transaction.ts';
import { inTime, takenInTime } from '../../transactions/in-time.ts';
import type { TransactionAdapterOptions } from '../../transactions/options.ts';
import { noAnswer, noConnection } from '../../transactions/transaction-error.ts';
import { resetConnection } from '../reset-connection.ts';
import { GuardedClient, type PgConnection } from './guarded-client.ts';
import { opening } from './opening.ts';
import { losesConnection } from './server-word.ts';

/** A connection of `pg` out of the pool of a library. */
export interface LentClient<Client> {
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

/**
 * Takes a connection by `lend`, has the library begin on it, and guards both. A connection whose
 * state is not known is reset and dropped.
 */
export async function openOnClient<Client extends PgConnection, T>(
  limits: TransactionLimits,
  { isolationLevel }: TransactionAdapterOptions,
  lend: () => Promise<LentClient<Client>>,
  begin: (client: Client, gate: TransactionGate) => Promise<BegunTransaction<T>>,
): Promise<OpenTransaction<T>> {
  const lent = await takenInTime(limits.lockTimeoutMs, lend(), noConnection, (late) =>
    late.giveBack(undefined),
  );
  const gate = new TransactionGate();
  const guard = new GuardedClient(lent.client, gate, opening(limits, isolationLevel));
  let isBack = false;
  const giveBack = (inDoubt?: Error) => {
    if (isBack) return;
    isBack = true;
    gate.close();
    if (inDoubt !== undefined) resetConnection(lent.client);
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
          const isUsable = guard.isReplied && !losesConnection(error);
          if (isUndone(error)) giveBack(isUsable ? undefined : (error as Error));
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
