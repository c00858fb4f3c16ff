import type { TransactionGate } from './gate.ts';
import { isCommit, isRollback } from './statement-text.ts';

/**
 * Has `gate` asked before `owner[name]` sends a statement, which is the argument at `textAt`. It
 * will be asked again; but libraries wrap what they are refused then, or have an error of their own
 * for what comes too late, and ours says what to do about it.
 */
export function checkBefore<Name extends string>(
  owner: { [method in Name]: (...args: never[]) => unknown },
  name: Name,
  gate: TransactionGate,
  textAt: number,
): void {
  const send = owner[name];
  const checked = async (...args: never[]) => {
    checkText(gate, args[textAt]);
    return send.apply(owner, args);
  };
  owner[name] = checked;
}

/** COMMIT and ROLLBACK are the library's own where the gate is closed, and the handler's before. */
export function checkText(gate: TransactionGate, sent: unknown): void {
  const text = typeof sent === 'string' ? sent : String((sent as Statement | undefined)?.sql ?? '');
  if (gate.isClosed && (isCommit(text) || isRollback(text))) return;
  gate.check(text);
}

interface Statement {
  readonly sql?: unknown;
}
