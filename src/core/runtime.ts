/** Time and chance, passed in, so that a test can own every schedule. */
export interface Runtime {
  /** A clock that never jumps back, in milliseconds. */
  nowMs(): number;
  /** From 0 to 1, 1 excluded; for the jitter of retries. */
  random(): number;
  /** At least 122 random bits that no one can guess. */
  newOwner(): string;
  /** Runs `run` once after `delayMs`. The timer keeps no process alive. */
  setTimer(run: () => void, delayMs: number): unknown;
  clearTimer(timer: unknown): void;
}

/** Resolves after `delayMs`. */
export function delay(runtime: Runtime, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    runtime.setTimer(resolve, delayMs);
  });
}

const BACKOFF_FIRST_MS = 50;
const BACKOFF_LONGEST_MS = 5_000;

/** How long to wait before retry number `retry`, from 0: doubling, half of it left to chance. */
export function backoffMs(runtime: Runtime, retry: number): number {
  const ceilingMs = Math.min(BACKOFF_LONGEST_MS, BACKOFF_FIRST_MS * 2 ** Math.min(retry, 20));
  return ceilingMs / 2 + (runtime.random() * ceilingMs) / 2;
}
