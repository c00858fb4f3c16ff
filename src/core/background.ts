import { backoffMs, delay, type Runtime } from './runtime.ts';

/** How long saving and releasing go on after the client has been answered. */
export const BACKGROUND_MAX_MS: number = 10 * 60_000;
const UNSAVED_MAX_BYTES = 64 * 1024 * 1024;
const RELEASES_MAX = 10_000;

/**
 * Work that goes on after its client was answered: saving what could not be saved, releasing what
 * could not be released. One account a process, shared by all copies of the package, since the
 * memory it bounds is the process's.
 */
export interface Background {
  unsavedBytes: number;
  unacknowledgedReleases: number;
}

/** The account of this process. */
export function background(): Background {
  const place = globalThis as { [ACCOUNT]?: Background };
  place[ACCOUNT] ??= { unsavedBytes: 0, unacknowledgedReleases: 0 };
  return place[ACCOUNT];
}

/** Whether so much waits for the store that new keys are refused without asking it. */
export function isBackgroundFull(): boolean {
  const { unsavedBytes, unacknowledgedReleases } = background();
  return unsavedBytes >= UNSAVED_MAX_BYTES || unacknowledgedReleases >= RELEASES_MAX;
}

/**
 * Runs `tryOnce` again and again, with backoff, until it answers true or `forMs` are over.
 * Answers whether it came to true. `tryOnce` never rejects.
 */
export async function retry(
  runtime: Runtime,
  forMs: number,
  tryOnce: (remainingMs: number) => Promise<boolean>,
): Promise<boolean> {
  const endMs = runtime.nowMs() + forMs;
  return (await tryOnce(forMs)) || tryAgain(runtime, endMs, tryOnce);
}

/** The tries after a first one that came to false: see {@link retry}. */
export async function tryAgain(
  runtime: Runtime,
  endMs: number,
  tryOnce: (remainingMs: number) => Promise<boolean>,
): Promise<boolean> {
  for (let failures = 0; ; failures += 1) {
    const waitMs = backoffMs(runtime, failures);
    if (runtime.nowMs() + waitMs >= endMs) return false;
    await delay(runtime, waitMs);
    if (await tryOnce(endMs - runtime.nowMs())) return true;
  }
}

const ACCOUNT = Symbol.for('express-idempotent.background');
