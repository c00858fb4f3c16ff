import type { AttemptContext } from './attempt-context.ts';
import { type AttemptSettings, callStore } from './attempt-settings.ts';
import { FencedError } from './errors.ts';
import { publish } from './events.ts';

/**
 * Gives the store signs of life while the handler of one attempt runs, and while its outcome is
 * being saved. They end with `stop`, with `maxRunMs`, and with the process.
 */
export class LeaseKeeper {
  readonly #context: AttemptContext;
  readonly #settings: AttemptSettings;
  readonly #leaseMs: number;
  readonly #endMs: number;
  #timer: unknown;
  #isOver = false;

  constructor(
    context: AttemptContext,
    settings: AttemptSettings,
    terms: { readonly leaseMs: number; readonly maxRunMs: number },
  ) {
    this.#context = context;
    this.#settings = settings;
    this.#leaseMs = terms.leaseMs;
    this.#endMs = settings.runtime.nowMs() + terms.maxRunMs;
    this.#wait();
  }

  stop(): void {
    this.#isOver = true;
    this.#settings.runtime.clearTimer(this.#timer);
  }

  /** A third of the lease: two signs may be lost before it ends. */
  #wait(): void {
    const { runtime } = this.#settings;
    this.#timer = runtime.setTimer(() => void this.#renew(), Math.ceil(this.#leaseMs / 3));
  }

  async #renew(): Promise<void> {
    const { store, runtime } = this.#settings;
    const context = this.#context;
    if (runtime.nowMs() >= this.#endMs) {
      publish('lease-ended', context);
      return;
    }
    try {
      const { recordKey } = context;
      await callStore(this.#settings, (call) =>
        store.renew?.(recordKey, this.#leaseMs, context, call),
      );
    } catch (error) {
      if (this.#isOver) return;
      publish('renew-failed', context, { error });
      if (error instanceof FencedError) return;
    }
    if (!this.#isOver) this.#wait();
  }
}
