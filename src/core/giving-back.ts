import { type Activity, inBackground } from './activity.ts';
import type { AttemptContext } from './attempt-context.ts';
import { type AttemptSettings, callStore } from './attempt-settings.ts';
import { BACKGROUND_MAX_MS, background, retry } from './background.ts';
import { withDeadline } from './deadline.ts';
import { publish } from './events.ts';
import { delay } from './runtime.ts';

/** Gives the reservation of one attempt back: in time, or in the background until it is taken. */
export class GivingBack {
  readonly #context: AttemptContext;
  readonly #settings: AttemptSettings;
  readonly #activity: Activity;

  constructor(context: AttemptContext, settings: AttemptSettings, activity: Activity) {
    this.#context = context;
    this.#settings = settings;
    this.#activity = activity;
  }

  /** Never rejects: what the store does not take in time goes on in the background. */
  async now(): Promise<void> {
    if (!(await this.#try())) void this.#counted(() => this.#goOn());
  }

  /**
   * After a claim that was not answered. A release that overtakes its claim does nothing, so it is
   * sent once more when the claim has settled. A claim that rejected may still be under way behind
   * a broken connection: that one is given the time after which no store call of ours is left.
   */
  afterClaim(sent: unknown): void {
    void this.#counted(() => this.#afterClaim(sent));
  }

  async #afterClaim(sent: unknown): Promise<void> {
    const { runtime, storeTimeoutMs } = this.#settings;
    await this.#goOn();
    const settled = Promise.resolve(sent).catch(() => delay(runtime, storeTimeoutMs));
    await withDeadline(runtime, BACKGROUND_MAX_MS, () => settled);
    await this.#goOn();
  }

  /** What goes on keeps memory, from its first try until it is over. */
  async #counted(work: () => Promise<void>): Promise<void> {
    const account = background();
    account.unacknowledgedReleases += 1;
    await inBackground(this.#activity, work());
    account.unacknowledgedReleases -= 1;
  }

  async #try(): Promise<boolean> {
    const { store } = this.#settings;
    const context = this.#context;
    try {
      await callStore(this.#settings, (call) => store.release(context.recordKey, context, call));
      publish('released', context);
      return true;
    } catch (error) {
      publish('release-failed', context, { error });
      return false;
    }
  }

  async #goOn(): Promise<void> {
    const released = await retry(this.#settings.runtime, BACKGROUND_MAX_MS, () => this.#try());
    if (!released) publish('gave-up', this.#context, { detail: 'release' });
  }
}
