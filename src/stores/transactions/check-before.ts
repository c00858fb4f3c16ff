import type { TransactionGate } from './gate.ts';
import { isCommit, isRollback } from './statement-text.ts';

/**
 * Has the gate looked at before `owner[name]` sends a statement. Libraries have errors of their own
 * for what comes after the end of a transaction; ours says what to do about it. The statement is
 * the argument at `textAt`; those that end the transaction are the library's.
 */
export function checkBefore<Name extends string>(
  owner: { [method in Name]: (...args: never[]) => unknown },
  name: Name,
  gate: TransactionGate,
  textAt: number,
): void {
  const send = owner[name];
  const checked = async (...args: never[]) => {
    const text = String(args[textAt]);
    if (!isCommit(text) && !isRollback(text)) gate.check();
    return send.apply(owner, args);
  };
  owner[name] = checked;
}
