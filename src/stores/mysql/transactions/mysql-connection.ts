import type { OpenTransaction, TransactionLimits } from '../../../core/transaction.ts';
import { TransactionGate } from '../../transactions/gate.ts';
import type { ConnectionDialect, DriverConnection } from '../../transactions/guarded-connection.ts';
import { inTime } from '../../transactions/in-time.ts';
import {
  type Lending,
  type LentConnection,
  openOnLoan,
} from '../../transactions/lent-connection.ts';
import type { TransactionAdapterOptions } from '../../transactions/options.ts';
import { noAnswer } from '../../transactions/transaction-error.ts';
import { endsConnection } from '../mysql-error.ts';
import { RESTORING_LIMITS, settingLimits } from './limits.ts';
import { commitsByItself } from './mysql-statement.ts';
import { afterCommit, watchFailure } from './server-word.ts';

/** A guarded transaction on a connection of `mysql2`, for whichever library begins it there. */
export function openOnMySql<Client extends DriverConnection, T>(
  limits: TransactionLimits,
  { isolationLevel }: TransactionAdapterOptions,
  lend: Lending<Client, T>['lend'],
  begin: Lending<Client, T>['begin'],
): Promise<OpenTransaction<T>> {
  const settings =
    isolationLevel === undefined ? [] : [`set transaction isolation level ${isolationLevel}`];
  return openOnLoan<Client, T>(limits, {
    gate: new TransactionGate(commitsByItself),
    dialect: MYSQL_DIALECT,
    lend: async () => withSettings(await lend(), [settingLimits(limits), ...settings]),
    begin,
  });
}

const MYSQL_DIALECT: ConnectionDialect<DriverConnection> = {
  opening: 'start transaction',
  sends: new Set(['query', 'execute']),
  refuses: new Set([
    ...['beginTransaction', 'commit', 'rollback', 'release', 'end', 'close', 'destroy'],
    ...['changeUser', 'reset', 'prepare', 'promise'],
  ]),
  run,
  watch: (gate, error, result) => {
    if (error) watchFailure(gate, error);
    else if (hasLeftTransaction(result)) gate.doom(new Error(LEFT));
  },
  isCommitted: () => true,
  afterCommit,
  losesConnection: endsConnection,
  reset,
};

/** Sends `settings` first; the limits among them are taken back before the pool has it again. */
async function withSettings<Client extends DriverConnection>(
  lent: LentConnection<Client>,
  settings: readonly string[],
): Promise<LentConnection<Client>> {
  try {
    for (const text of settings) await run(lent.client, text, []);
  } catch (error) {
    lent.giveBack(error as Error);
    throw error;
  }
  const giveBack = async (inDoubt: Error | undefined) => {
    if (inDoubt !== undefined) {
      lent.giveBack(inDoubt);
      return;
    }
    try {
      await inTime(RESTORE_TIMEOUT_MS, run(lent.client, RESTORING_LIMITS, []), noAnswer);
      lent.giveBack(undefined);
    } catch (error) {
      reset(lent.client);
      lent.giveBack(error as Error);
    }
  };
  return { client: lent.client, giveBack };
}

const RESTORE_TIMEOUT_MS = 5_000;

async function run(client: object, text: string, values: unknown[]): Promise<unknown> {
  const { promise } = client as { promise?(): PromiseClient };
  const sender = promise === undefined ? (client as PromiseClient) : promise.call(client);
  return sender.query(text, values);
}

interface PromiseClient {
  query(text: string, values: unknown[]): Promise<unknown>;
}

/** Whether a write says that it was committed at once: a procedure may hide what does that. */
function hasLeftTransaction(result: unknown): boolean {
  const [first] = Array.isArray(result) ? result : [result];
  const { serverStatus } = (first ?? {}) as { readonly serverStatus?: unknown };
  return typeof serverStatus === 'number' && (serverStatus & IN_TRANSACTION) === 0;
}

const IN_TRANSACTION = 1;
const LEFT = 'A statement has ended the transaction: MySQL commits before some, without a word.';

function reset(client: object): void {
  const { connection: core = client } = client as { readonly connection?: object };
  const { stream } = core as { readonly stream?: Socket };
  // The stream of TLS has the socket below it.
  const socket = stream?._parent ?? stream;
  try {
    socket?.resetAndDestroy?.();
  } catch {
    // A connection of another kind.
  }
  (core as { destroy?(): void }).destroy?.();
}

interface Socket {
  readonly _parent?: Socket;
  resetAndDestroy?(): void;
}
