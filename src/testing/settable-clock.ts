/** A clock that moves only when it is told to. Give {@link SettableClock.now} to the store. */
export class SettableClock {
  #nowMs: number;

  constructor(startMs: number = Date.UTC(2030, 0, 1)) {
    this.#nowMs = startMs;
  }

  /** Bound, so that it can be handed out by itself: `new MemoryStore({ now: clock.now })`. */
  readonly now = (): number => this.#nowMs;

  advance(ms: number): void {
    this.#nowMs += ms;
  }

  /** Also backwards: a clock that is set back must not make a store forget what it keeps. */
  set(nowMs: number): void {
    this.#nowMs = nowMs;
  }
}
