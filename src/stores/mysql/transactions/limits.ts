import type { TransactionLimits } from '../../../core/transaction.ts';

/**
 * Sets the limits of the session, and keeps what they were in variables of the session: MySQL has
 * none for a transaction alone. What a server does not know stands in comments that it skips:
 * MariaDB limits every statement, MySQL a SELECT only.
 */
export function settingLimits(limits: TransactionLimits): string {
  const { statementTimeoutMs, lockTimeoutMs, idleTimeoutMs } = limits;
  return `set ${KEEP.wait} = @@session.innodb_lock_wait_timeout,
    ${KEEP.idle} = @@session.wait_timeout,
    /*M! ${KEEP.statement} = @@session.max_statement_time,
    session max_statement_time = ${statementTimeoutMs / 1_000}, */
    /*!80000 ${KEEP.statement} = @@session.max_execution_time,
    session max_execution_time = ${statementTimeoutMs}, */
    session innodb_lock_wait_timeout = ${seconds(lockTimeoutMs)},
    session wait_timeout = ${seconds(idleTimeoutMs)}`;
}

/** Puts back what the session had before. */
export const RESTORING_LIMITS: string = `set
  /*M! session max_statement_time = @express_idempotent_statement, */
  /*!80000 session max_execution_time = @express_idempotent_statement, */
  session innodb_lock_wait_timeout = @express_idempotent_wait,
  session wait_timeout = @express_idempotent_idle`;

const KEEP = {
  wait: '@express_idempotent_wait',
  idle: '@express_idempotent_idle',
  statement: '@express_idempotent_statement',
} as const;

/** MySQL counts in whole seconds; nothing is as short as none. */
function seconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}
