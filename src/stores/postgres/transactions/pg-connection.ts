import type { OpenTransaction, TransactionLimits } from '../../../core/transaction.ts';
import { TransactionGate } from '../../transactions/gate.ts';
import type { ConnectionDialect, DriverConnection } from '../../transactions/guarded-connection.ts';
import { type Lending, openOnLoan } from '../../transactions/lent-connection.ts';
import type { TransactionAdapterOptions } from '../../transactions/options.ts';
import { resetConnection } from '../reset-connection.ts';
import { opening } from './opening.ts';
import { afterCommit, losesConnection } from './server-word.ts';

/** A connection of `pg`, as far as it is used here. */
export interface PgConnection extends DriverConnection {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
}

/** A guarded transaction on a connection of `pg`, for whichever library begins it there. */
export function openOnPg<Client extends PgConnection, T>(
  limits: TransactionLimits,
  { isolationLevel }: TransactionAdapterOptions,
  lend: Lending<Client, T>['lend'],
  begin: Lending<Client, T>['begin'],
): Promise<OpenTransaction<T>> {
  const dialect = { ...PG_DIALECT, opening: opening(limits, isolationLevel) };
  return openOnLoan<Client, T>(limits, { gate: new TransactionGate(), dialect, lend, begin });
}

const PG_DIALECT: Omit<ConnectionDialect<PgConnection>, 'opening'> = {
  sends: new Set(['query']),
  refuses: new Set(['release', 'end']),
  run: (raw, text, values) => raw.query(text, values),
  // A transaction that has failed says so by itself, to each statement that follows.
  watch: () => {},
  isCommitted: (result) => (result as { readonly command?: unknown }).command === 'COMMIT',
  afterCommit,
  losesConnection,
  reset: resetConnection,
};
