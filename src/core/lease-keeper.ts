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
  /** A third of the lease: one sign may be lost, or late, before it ends. */
  readonly #everyMs: number;
  /** When it ends, by the clock of the runtime, whatever is resumed in between. */
  readonly endMs: number;
  #timer: unknown;
  #isOver = false;

  private constructor(
    context: AttemptContext,
    settings: AttemptSettings,
    leaseMs: number,
    endMs: number,
  ) {
    this.#context = context;
    this.#settings = settings;
    this.#leaseMs = leaseMs;
    this.#everyMs = Math.ceil(leaseMs / 3);
    this.endMs = endMs;
    this.#wait(this.#everyMs);
  }

  /** `undefined` without a lease, and in a transaction: its lease outlasts what it may take. */
  static start(
    context: AttemptContext,
    settings: AttemptSettings,
    endMs?: number,
  ): LeaseKeeper | undefined {
    const { mode, leaseMs, maxRunMs } = settings.recovery ?? {};
    if (leaseMs === undefined || maxRunMs === undefined || mode === 'transactional') return;
    const untilMs = endMs ?? settings.runtime.nowMs() + maxRunMs;
    return new LeaseKeeper(context, settings, leaseMs, untilMs);
  }

  stop(): void {
    this.#isOver = true;
    this.#settings.runtime.clearTimer(this.#timer);
  }

  #wait(delayMs: number): void {
    this.#timer = this.#settings.runtime.setTimer(() => void this.#renew(), delayMs);
  }

  async #renew(): Promise<void> {
    const { store, runtime } = this.#settings;
    const context = this.#context;
    const startedMs = runtime.nowMs();
    if (startedMs >= this.endMs) {
      publish('lease-ended', context);
      return;
    }
    try {
      const { recordKey } = context;
      await callStore(
        this.#settings,
        (call) => store.renew?.(recordKey, this.#leaseMs, context, call),
        this.#everyMs,
      );
    } catch (error) {
      if (this.#isOver) return;
      publish('renew-failed', context, { error });
      if (error instanceof FencedError) return;
    }
    // From sign to sign, however long the store took for this one.
    if (!this.#isOver) this.#wait(Math.max(0, startedMs + this.#everyMs - runtime.nowMs()));
  }
}
