/**
 * What `promise` comes to, or a rejection after `ms`. What it comes to later is nobody's answer any
 * more, and never an unhandled rejection.
 */
export function inTime<T>(
  ms: number,
  promise: PromiseLike<T>,
  tooLate: (ms: number) => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(tooLate(ms)), ms);
    promise.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/** The same for something that has to be given back if it comes too late. */
export function takenInTime<T>(
  ms: number,
  taking: PromiseLike<T>,
  tooLate: (ms: number) => Error,
  giveBack: (late: T) => unknown,
): Promise<T> {
  let isLate = false;
  const taken = Promise.resolve(taking).then(async (value) => {
    if (isLate) await giveBack(value);
    return value;
  });
  const late = (waitedMs: number) => {
    isLate = true;
    return tooLate(waitedMs);
  };
  return inTime(ms, taken, late);
}
