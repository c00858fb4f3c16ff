import { type Activity, inBackground } from './activity.ts';
import type { AttemptContext } from './attempt-context.ts';
import { type AttemptSettings, callStore } from './attempt-settings.ts';
import { BACKGROUND_MAX_MS, background, retry, tryAgain } from './background.ts';
import { FencedError, RecordTooLargeError } from './errors.ts';
import { publish } from './events.ts';
import type { SavedResponse } from './saved-response.ts';
import type { RecordView } from './store.ts';

/** How an answer ended, as far as its request can wait. */
export type Saving =
  | { readonly kind: 'saved' }
  /** Another attempt owns the record; `found` is what it says now, where the store can tell. */
  | { readonly kind: 'superseded'; readonly found: RecordView | undefined }
  | { readonly kind: 'unsaved' }
  /** Nothing was done, and the key is given back: the answer is not an outcome, and may leave. */
  | { readonly kind: 'undone' }
  /** The same, but the answer may not leave: this error is to be answered. */
  | { readonly kind: 'failed'; readonly error: unknown };

/** Saves the outcome of one attempt. */
export class Saver {
  readonly #context: AttemptContext;
  readonly #settings: AttemptSettings;
  readonly #activity: Activity;

  constructor(context: AttemptContext, settings: AttemptSettings, activity: Activity) {
    this.#context = context;
    this.#settings = settings;
    this.#activity = activity;
  }

  /**
   * 'saved' is the only leave for a first byte of the outcome. Tries for `saveTimeoutMs`, whether
   * or not the client is there, then goes on in the background. Never rejects. `whenOver` is told
   * when nothing is tried any more.
   */
  async save(response: SavedResponse, whenOver: () => void): Promise<Saving> {
    const { runtime, saveTimeoutMs } = this.#settings;
    const work = new Work(response);
    const endMs = runtime.nowMs() + saveTimeoutMs;
    // Most are saved at once, and make nothing of what is needed to try again.
    if (!(await this.#try(work, saveTimeoutMs))) {
      const tryOnce = (remainingMs: number): Promise<boolean> => this.#try(work, remainingMs);
      if (!(await tryAgain(runtime, endMs, tryOnce))) {
        publish('unsaved', this.#context);
        void inBackground(this.#activity, this.#goOn(work, tryOnce)).then(whenOver);
        return { kind: 'unsaved' };
      }
    }
    whenOver();
    return work.ended === 'saved' ? { kind: 'saved' } : this.superseded();
  }

  /** What the record says that another attempt owns now. */
  async superseded(): Promise<Saving> {
    const { store } = this.#settings;
    publish('superseded', this.#context);
    try {
      const { recordKey } = this.#context;
      const found = await callStore(this.#settings, (call) => store.inspect?.(recordKey, call));
      return { kind: 'superseded', found };
    } catch {
      return { kind: 'superseded', found: undefined };
    }
  }

  async #try(work: Work, remainingMs: number): Promise<boolean> {
    const { store } = this.#settings;
    const context = this.#context;
    const { response } = work;
    try {
      await callStore(
        this.#settings,
        (call) => store.complete(context.recordKey, response, context, call),
        remainingMs,
      );
      work.ended = 'saved';
      publish(response.kept ? 'completed' : 'not-kept', context, { status: response.status });
      return true;
    } catch (error) {
      if (error instanceof FencedError) {
        work.ended = 'fenced';
        return true;
      }
      publish('save-failed', context, { error });
      if (error instanceof RecordTooLargeError && response.kept) {
        work.response = { kept: false, status: response.status };
        return this.#try(work, remainingMs);
      }
      return false;
    }
  }

  async #goOn(work: Work, tryOnce: (remainingMs: number) => Promise<boolean>): Promise<void> {
    const account = background();
    const bytes = HELD_BYTES + (work.response.kept ? work.response.body.byteLength : 0);
    account.unsavedBytes += bytes;
    const saved = await retry(this.#settings.runtime, BACKGROUND_MAX_MS, tryOnce);
    account.unsavedBytes -= bytes;
    if (!saved) publish('gave-up', this.#context, { detail: 'save' });
    else if (work.ended === 'fenced') publish('superseded', this.#context);
  }
}

/** What an answer without a body keeps in memory until it is saved: its head and its request. */
const HELD_BYTES = 16 * 1024;

/** What is to be saved, and how that ended: no end yet means that it is tried again. */
class Work {
  response: SavedResponse;
  ended: 'saved' | 'fenced' | undefined;

  constructor(response: SavedResponse) {
    this.response = response;
  }
}
