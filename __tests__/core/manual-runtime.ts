import type { Runtime } from '../../src/core/runtime.ts';

interface Timer {
  readonly run: () => void;
  readonly atMs: number;
}

/** Time that moves only when a test moves it. */
export class ManualRuntime implements Runtime {
  readonly #timers = new Set<Timer>();
  #nowMs = 0;
  #owners = 0;

  nowMs(): number {
    return this.#nowMs;
  }

  random(): number {
    return 0.5;
  }

  newOwner(): string {
    this.#owners += 1;
    return `owner-${this.#owners}`;
  }

  setTimer(run: () => void, delayMs: number): unknown {
    const timer = { run, atMs: this.#nowMs + delayMs };
    this.#timers.add(timer);
    return timer;
  }

  clearTimer(timer: unknown): void {
    this.#timers.delete(timer as Timer);
  }

  /** The timers that are set and have not fired. */
  get timers(): number {
    return this.#timers.size;
  }

  /** How long until the next timer fires. */
  nextTimerMs(): number {
    return Math.min(...this.timersLeftMs());
  }

  /** How long until each timer fires, in the order in which they were set. */
  timersLeftMs(): number[] {
    return [...this.#timers].map((timer) => timer.atMs - this.#nowMs);
  }

  /** Moves on by `ms`, timer by timer, and lets everything that is ready happen. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await settled();
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.atMs <= endMs);
      const next = due.sort((one, other) => one.atMs - other.atMs)[0];
      if (next === undefined) break;
      this.#nowMs = next.atMs;
      this.#timers.delete(next);
      next.run();
      await settled();
    }
    this.#nowMs = endMs;
  }
}

/** Lets every promise that can settle do so. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
