/** The arguments of a method that sends a statement, in any of the forms of drivers. */
export type QueryArguments = readonly unknown[];

/** The text that will be sent: each driver, and each kind of query, keeps it under its own name. */
export function textOf([query]: QueryArguments): string {
  if (typeof query === 'string') return query;
  const { text, sql, cursor } = (query ?? {}) as QueryObject;
  return [text, sql, cursor?.text].find((each) => typeof each === 'string') ?? '';
}

interface QueryObject {
  readonly text?: string;
  readonly sql?: string;
  readonly cursor?: { readonly text?: string };
}

/** The same call with another text. */
export function withText(args: QueryArguments, text: string): QueryArguments {
  const [query, ...others] = args;
  if (typeof query === 'string') return [text, ...others];
  const name = 'sql' in (query as QueryObject) ? 'sql' : 'text';
  return [{ ...(query as object), [name]: text }, ...others];
}

/**
 * Sends a query, and tells `settled` what came of it: in the form of a promise, of a callback, or
 * of an object that reads by itself, such as a cursor.
 */
export function observe(
  send: (...args: QueryArguments) => unknown,
  args: QueryArguments,
  settled: (error: unknown, result?: unknown) => void,
): unknown {
  const at = args.findIndex((each) => typeof each === 'function');
  if (at !== -1) {
    const callback = args[at] as (...outcome: unknown[]) => void;
    const observed = (error: unknown, ...results: unknown[]) => {
      settled(error, ...results);
      callback(error, ...results);
    };
    return send(...args.with(at, observed));
  }
  const sent = send(...args);
  // Before the promises: a query object of mysql2 throws when its `then` is called.
  if (isEmitter(sent)) {
    for (const event of ['end', 'close', 'error']) sent.once(event, () => settled(undefined));
  } else if (isThenable(sent)) {
    sent.then(
      (result) => settled(undefined, result),
      (error: unknown) => settled(error),
    );
  } else {
    // It is in the client's queue, before whatever comes later.
    settled(undefined);
  }
  return sent;
}

/** A refusal in the form that the call asks for. */
export function refuse(args: QueryArguments, error: unknown): unknown {
  const callback = args.find((each) => typeof each === 'function');
  if (callback !== undefined) {
    process.nextTick(callback as (error: unknown) => void, error);
    return undefined;
  }
  const { submit } = (args[0] ?? {}) as { readonly submit?: unknown };
  if (typeof submit === 'function') throw error;
  return Promise.reject(error);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | undefined)?.then === 'function';
}

function isEmitter(value: unknown): value is { once(event: string, listener: () => void): void } {
  return typeof (value as { once?: unknown } | undefined)?.once === 'function';
}
