/** A transaction of a library that ends it when a callback does: ended by hand instead. */
export interface CallbackTransaction<T> {
  readonly tx: T;
  /** Lets the callback succeed. Settles as the library does, also where it has done so before. */
  commit(): Promise<unknown>;
  /** Lets the callback fail. Resolves when the library has rolled back. */
  rollback(): Promise<void>;
}

/**
 * Begins by `run`, which hands the transaction to a callback. What `run` does before its callback
 * is called decides how it begins; a rejection then is this one's. `onLoss` is told when the
 * library has ended the transaction before it was asked to.
 */
export function beginByCallback<T>(
  run: (callback: (tx: T) => Promise<void>) => PromiseLike<unknown>,
  onLoss: (error: Error) => void,
): Promise<CallbackTransaction<T>> {
  return new Promise((resolve, reject) => {
    const undo = new Error('The transaction is undone.');
    let isAsked = false;
    let isOver = false;
    const { promise: isDone, resolve: succeed, reject: fail } = deferred();
    const outcome: Promise<unknown> = Promise.resolve(
      run((tx) => {
        resolve({
          tx,
          commit: () => {
            if (isOver) return outcome;
            isAsked = true;
            succeed();
            return outcome;
          },
          rollback: async () => {
            if (isOver) return;
            isAsked = true;
            fail(undo);
            await outcome.then(notRolledBack, (error: unknown) => {
              if (!isCausedBy(error, undo)) throw error;
            });
          },
        });
        return isDone;
      }),
    );
    outcome.catch((error: Error) => {
      isOver = true;
      if (!isAsked) onLoss(error);
      reject(error);
    });
  });
}

function deferred(): { promise: Promise<void>; resolve: () => void; reject: (e: Error) => void } {
  let resolve: () => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<void>((...settle) => {
    [resolve, reject] = settle;
  });
  promise.catch(() => {});
  return { promise, resolve, reject };
}

function notRolledBack(): never {
  throw new Error('Expected the library to roll back when its callback fails; it did not.');
}

/** Libraries may wrap what a callback throws. */
function isCausedBy(error: unknown, cause: Error): boolean {
  for (let inner = error; inner !== undefined && inner !== null; ) {
    if (inner === cause) return true;
    inner = (inner as { readonly cause?: unknown }).cause;
  }
  return false;
}
