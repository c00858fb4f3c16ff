import type { TransactionLimits } from '../../../core/transaction.ts';
import type { IsolationLevel } from '../../transactions/options.ts';

/** BEGIN and the limits as one text, which takes one round trip. */
export function opening(limits: TransactionLimits, isolationLevel?: IsolationLevel): string {
  const level = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`;
  return `begin${level}; ${settingLimits(limits)}`;
}

/** The limits for the transaction that is open, as several statements in one text. */
export function settingLimits(limits: TransactionLimits): string {
  return settings(limits)
    .map(([name, ms]) => `set local ${name} = ${ms}`)
    .join('; ');
}

/**
 * The same as one statement, for libraries that send one at a time; without the limit on pauses
 * where a connection that the server ends is more than the library can bear.
 */
export function limitsQuery(limits: TransactionLimits, limitsPauses: boolean): string {
  const all = settings(limits).slice(0, limitsPauses ? 3 : 2);
  return `select ${all.map(([name, ms]) => `set_config('${name}', '${ms}', true)`).join(', ')}`;
}

function settings(limits: TransactionLimits): [name: string, ms: number][] {
  return [
    ['statement_timeout', limits.statementTimeoutMs],
    ['lock_timeout', limits.lockTimeoutMs],
    ['idle_in_transaction_session_timeout', limits.idleTimeoutMs],
  ];
}
