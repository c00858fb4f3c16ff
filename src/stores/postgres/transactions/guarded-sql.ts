import type { TransactionGate } from '../../transactions/gate.ts';
import { losesConnection, serverWord } from './server-word.ts';

/**
 * The `sql` of a transaction of postgres.js, with the gate before each of its queries. A query goes
 * out when it is awaited, by the function `handler` that it carries; that is where the gate is.
 *
 * postgres.js goes on to use a connection that it has lost, once it has a new one: a query after
 * the loss would run outside of any transaction. So the gate closes with the first such failure.
 */
export function guardedSql<Sql extends object>(sql: Sql, gate: TransactionGate): Sql {
  const guard = (value: unknown): unknown => (isQuery(value) ? guardQuery(value, gate) : value);
  return new Proxy(sql, {
    apply: (target, thisArg, args) =>
      guard(Reflect.apply(target as unknown as Callable, thisArg, args)),
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (name === 'savepoint') return savepoint(value as Callable, gate);
      if (typeof value !== 'function' || !SENDS.has(name)) return value;
      return (...args: unknown[]) => {
        if (name === 'prepare' || name === 'notify') gate.check('');
        return guard(Reflect.apply(value, target, args));
      };
    },
  });
}

/** What sends by itself, or makes queries that do. */
const SENDS: ReadonlySet<string | symbol> = new Set(['unsafe', 'file', 'notify', 'prepare']);

type Callable = (...args: unknown[]) => unknown;

interface Query {
  strings: readonly string[];
  handler: (query: Query) => unknown;
  reject: (error: unknown) => void;
  active: boolean;
  readonly cursorFn?: unknown;
  then(onFulfilled: () => void, onRejected: () => void): unknown;
}

function isQuery(value: unknown): value is Query {
  const { handler, strings, reject } = (value ?? {}) as Partial<Query>;
  return typeof handler === 'function' && Array.isArray(strings) && typeof reject === 'function';
}

function guardQuery(query: Query, gate: TransactionGate): Query {
  const { handler, reject } = query;
  query.reject = (error) => {
    if (isLoss(error)) gate.lose(error as Error);
    reject(error);
  };
  query.handler = (asked) => {
    let leave: () => void;
    try {
      leave = gate.enter(asked.strings.join('?'));
    } catch (error) {
      return reject(error);
    }
    if (asked.cursorFn === undefined) asked.then(leave, leave);
    else onInactive(asked, leave);
    return handler(asked);
  };
  return query;
}

/** Errors of the connection carry an `errno`; a value that cannot be sent is a mistake without. */
function isLoss(error: unknown): boolean {
  const { errno } = (error ?? {}) as { readonly errno?: unknown };
  return serverWord(error) === undefined ? errno !== undefined : losesConnection(error);
}

/** The promise of a query that is read by a cursor may never settle. */
function onInactive(query: Query, tell: () => void): void {
  let isActive = query.active;
  Object.defineProperty(query, 'active', {
    get: () => isActive,
    set: (value: boolean) => {
      isActive = value;
      if (!isActive) tell();
    },
  });
}

/**
 * The `sql` inside a savepoint is another one, on the same connection. What postgres.js itself
 * sends for it passes no gate, so all of it counts as under way: a rollback to the savepoint that
 * came after a statement of ours would undo that.
 */
function savepoint(make: Callable, gate: TransactionGate): Callable {
  return (...args) =>
    gate.pass('savepoint', () =>
      make(
        ...args.map((arg) =>
          typeof arg === 'function' ? (inner: object) => arg(guardedSql(inner, gate)) : arg,
        ),
      ),
    );
}
