import { setTimeout as delay } from 'node:timers/promises';

/**
 * Another connection writes to the file for a few milliseconds at a time: come again, and block
 * nobody. `isBusy` must be true only of what has done nothing.
 */
export async function unlessBusy<T>(
  write: () => T,
  isBusy: (error: unknown) => boolean,
): Promise<T> {
  const giveUpAtMs = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      return write();
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpAtMs) throw error;
    }
    await delay(BUSY_RETRY_MS * Math.random());
  }
}

const BUSY_TIMEOUT_MS = 5_000;
const BUSY_RETRY_MS = 10;
