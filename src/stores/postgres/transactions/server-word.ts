import { asUndone } from '../../transactions/transaction-error.ts';

/**
 * The SQLSTATE that a server has answered with, however deep the library has wrapped it;
 * `undefined` when no server has said anything. A code by itself is no word of a server: `EPIPE` is
 * one of the system, and `P2028` one of a library.
 */
export function serverWord(error: unknown): string | undefined {
  let inner = error;
  for (let depth = 0; depth < MAX_DEPTH && inner !== null && inner !== undefined; depth += 1) {
    const { severity, code, originalCode, cause, original, driverError, meta } =
      inner as WrappedError;
    if (typeof originalCode === 'string') return originalCode;
    if (typeof severity === 'string' && typeof code === 'string') return code;
    inner = cause ?? original ?? driverError ?? meta?.driverAdapterError;
  }
  return undefined;
}

/** An error that says the SQLSTATE itself, as those of drivers do. */
export function withServerWord(error: unknown): unknown {
  const code = serverWord(error);
  if (code === undefined || (error as WrappedError).code === code) return error;
  const message = `PostgreSQL refused the statement (SQLSTATE ${code}).`;
  return Object.assign(new Error(message, { cause: error }), { code, severity: 'ERROR' });
}

/** Whether the connection is gone: the server has ended it, or says nothing. */
export function losesConnection(error: unknown): boolean {
  const state = serverWord(error);
  return state === undefined || ENDS_SESSION.test(state);
}

/**
 * What COMMIT was answered with, marked when it is the server's word for a rollback; in the form
 * that the library has given it, if any.
 */
export function afterCommit(answer: unknown, inLibrary: unknown = answer): unknown {
  const state = serverWord(answer);
  return state === undefined || UNCLEAR.test(state) ? inLibrary : asUndone(inLibrary);
}

const ENDS_SESSION = /^(08|57P|58|XX|25P0[34])/;

/**
 * A server that is shut down, or a pooler that lost it, may have committed before it said so. The
 * limit on the idle time (25P03) only ends a session whose COMMIT has not begun.
 */
const UNCLEAR = /^(08|57P|58|XX|F0|40003|25P04)/;
const MAX_DEPTH = 8;

/** Where libraries put what the driver threw. */
interface WrappedError {
  readonly severity?: unknown;
  readonly code?: unknown;
  readonly originalCode?: unknown;
  readonly cause?: unknown;
  readonly original?: unknown;
  readonly driverError?: unknown;
  readonly meta?: { readonly driverAdapterError?: unknown };
}
