import { AttemptContext } from './attempt-context.ts';
import { BACKGROUND_MAX_MS, background, isBackgroundFull, retry } from './background.ts';
import { checkClaim } from './claim-check.ts';
import { LATE, withDeadline } from './deadline.ts';
import {
  FencedError,
  IdempotencyError,
  provesNothingApplied,
  RecordTooLargeError,
} from './errors.ts';
import { publish } from './events.ts';
import { delay, type Runtime } from './runtime.ts';
import type { SavedResponse } from './saved-response.ts';
import type {
  Attempt,
  Claim,
  IdempotencyStore,
  InspectCapability,
  RecordView,
  StoreCall,
} from './store.ts';

export interface AttemptSettings {
  readonly store: IdempotencyStore & Partial<InspectCapability>;
  readonly runtime: Runtime;
  /** The deadline of one claim, one release, one try to save. */
  readonly storeTimeoutMs: number;
  readonly admitTimeoutMs: number;
  /** All tries to save, before the client is told that its outcome is not saved. */
  readonly saveTimeoutMs: number;
}

/** `0` lets the handler run; 429 and 503 refuse. */
export type AdmitAnswer = 0 | 429 | 503;

/** How saving ended, as far as this request can wait. */
export type Saving =
  | { readonly kind: 'saved' }
  /** Another attempt owns the record; `found` is what it says now, where the store can tell. */
  | { readonly kind: 'superseded'; readonly found: RecordView | undefined }
  | { readonly kind: 'unsaved' };

/**
 * One attempt at one key:
 *
 *     idle --claim--> reserved --admit--> admitted --start--> running --complete--> ended
 *       `---> dead <-----'-------------------'
 *
 * `dead` is a one-way latch: nothing leads from it to `start`. Only a dead attempt is released, so
 * a release never frees a key whose handler has begun.
 */
export class AttemptMachine {
  readonly context: AttemptContext;
  readonly #settings: AttemptSettings;
  #phase: 'idle' | 'reserved' | 'admitted' | 'running' | 'ended' | 'dead' = 'idle';

  constructor(context: AttemptContext, settings: AttemptSettings) {
    this.context = context;
    this.#settings = settings;
  }

  /**
   * Asks the store for the key. `unavailable` when it did not say: then the attempt is dead, and
   * what the claim may have reserved, or may still reserve, is released in the background.
   *
   * @throws {IdempotencyError} `record_corrupt`, `store_answer_invalid`. The attempt is dead too.
   */
  async claim(): Promise<Claim | { readonly kind: 'unavailable' }> {
    const { context } = this;
    const { store } = this.#settings;
    this.#phase = 'dead';
    if (isBackgroundFull()) {
      publish('claim-failed', context, { detail: 'too much waits for the store' });
      return { kind: 'unavailable' };
    }
    let sent: unknown;
    try {
      const claim = await this.#call((call) => {
        const answer = store.claim(context.recordKey, context.fingerprint, context, call);
        sent = answer;
        return answer;
      });
      checkClaim(claim, store);
      if (claim.kind === 'new') this.#reserved(claim.attempt);
      else publish(claim.kind === 'replay' ? 'replayed' : claim.kind, context);
      return claim;
    } catch (error) {
      publish('claim-failed', context, { error });
      const code = error instanceof IdempotencyError ? error.code : undefined;
      if (!provesNothingApplied(code)) void this.#releaseAbandonedClaim(sent);
      if (code === 'record_corrupt' || code === 'store_answer_invalid') throw error;
      return { kind: 'unavailable' };
    }
  }

  /**
   * Asks `admit`, once. Whoever is not admitted is dead, and its reservation is given back before
   * this settles, or in the background when the store does not take it in time. `admit` that is
   * late counts as 503. Without `admit` everybody is admitted.
   *
   * @throws what `admit` throws, and `admit_invalid` for any other answer.
   */
  async admit(admit?: (context: Attempt) => unknown): Promise<AdmitAnswer> {
    const { runtime, admitTimeoutMs } = this.#settings;
    this.#expect('reserved');
    let answer: unknown;
    try {
      answer =
        admit === undefined
          ? 0
          : await withDeadline(runtime, admitTimeoutMs, () => admit(this.context));
    } catch (error) {
      await this.release();
      throw error;
    }
    if (answer === 0) {
      this.#phase = 'admitted';
      return 0;
    }
    await this.release();
    if (answer !== 429 && answer !== 503 && answer !== LATE) throw admitInvalid(answer);
    const status = answer === LATE ? 503 : answer;
    publish('refused', this.context, { status });
    return status;
  }

  /** From here on the handler may act, and the key is never released. */
  start(): void {
    this.#expect('admitted');
    this.#phase = 'running';
  }

  /**
   * Gives the reservation of an attempt back that has not started. Never rejects: what the store
   * does not take within `storeTimeoutMs` goes on in the background.
   */
  async release(): Promise<void> {
    if (this.#phase === 'running' || this.#phase === 'ended') return;
    this.#phase = 'dead';
    if (!(await this.#tryRelease())) void this.#releaseInBackground();
  }

  /**
   * Saves the outcome; 'saved' is the only leave for a first byte of it. Tries for `saveTimeoutMs`,
   * whether or not the client is there, then goes on in the background. Never rejects.
   */
  async complete(response: SavedResponse): Promise<Saving> {
    this.#expect('running');
    this.#phase = 'ended';
    const { runtime, saveTimeoutMs } = this.#settings;
    const work = new SavingWork(response);
    const tryOnce = (remainingMs: number): Promise<boolean> => this.#trySave(work, remainingMs);
    await retry(runtime, saveTimeoutMs, tryOnce);
    if (work.ended === 'saved') return { kind: 'saved' };
    if (work.ended === 'fenced') return this.#superseded();
    publish('unsaved', this.context);
    void this.#saveInBackground(work, tryOnce);
    return { kind: 'unsaved' };
  }

  /** The handler ended without an outcome: nothing is saved, nothing is freed. Answers false. */
  leavePending(status: number): false {
    this.#phase = 'ended';
    publish('left-pending', this.context, { status });
    return false;
  }

  async #trySave(work: SavingWork, remainingMs: number): Promise<boolean> {
    const { store } = this.#settings;
    const { context } = this;
    try {
      await this.#call(
        (call) => store.complete(context.recordKey, work.response, context, call),
        remainingMs,
      );
      work.ended = 'saved';
      publish(work.response.kept ? 'completed' : 'not-kept', context, {
        status: work.response.status,
      });
      return true;
    } catch (error) {
      if (error instanceof FencedError) {
        work.ended = 'fenced';
        publish('superseded', context);
        return true;
      }
      publish('save-failed', context, { error });
      if (error instanceof RecordTooLargeError && work.response.kept) {
        work.response = { kept: false, status: work.response.status };
        return this.#trySave(work, remainingMs);
      }
      return false;
    }
  }

  async #saveInBackground(
    work: SavingWork,
    tryOnce: (remainingMs: number) => Promise<boolean>,
  ): Promise<void> {
    const account = background();
    const bytes = work.response.kept ? work.response.body.byteLength : 0;
    account.unsavedBytes += bytes;
    const saved = await retry(this.#settings.runtime, BACKGROUND_MAX_MS, tryOnce);
    account.unsavedBytes -= bytes;
    if (!saved) publish('gave-up', this.context, { detail: 'save' });
  }

  async #superseded(): Promise<Saving> {
    const { store } = this.#settings;
    try {
      const found = await this.#call((call) => store.inspect?.(this.context.recordKey, call));
      return { kind: 'superseded', found };
    } catch {
      return { kind: 'superseded', found: undefined };
    }
  }

  async #tryRelease(): Promise<boolean> {
    const { store } = this.#settings;
    const { context } = this;
    try {
      await this.#call((call) => store.release(context.recordKey, context, call));
      publish('released', context);
      return true;
    } catch (error) {
      publish('release-failed', context, { error });
      return false;
    }
  }

  async #releaseInBackground(): Promise<void> {
    const account = background();
    account.unacknowledgedReleases += 1;
    const released = await retry(this.#settings.runtime, BACKGROUND_MAX_MS, () =>
      this.#tryRelease(),
    );
    account.unacknowledgedReleases -= 1;
    if (!released) publish('gave-up', this.context, { detail: 'release' });
  }

  /**
   * A release that overtakes its claim does nothing, so it is sent once more when the claim has
   * settled. A claim that rejected may still be under way behind a broken connection: that one is
   * given the time after which no store call of ours is left running.
   */
  async #releaseAbandonedClaim(sent: unknown): Promise<void> {
    const { runtime, storeTimeoutMs } = this.#settings;
    await this.#releaseInBackground();
    const settled = Promise.resolve(sent).catch(() => delay(runtime, storeTimeoutMs));
    await Promise.race([settled, delay(runtime, BACKGROUND_MAX_MS)]);
    await this.#releaseInBackground();
  }

  #reserved(attempt: number): void {
    this.#phase = 'reserved';
    AttemptContext.claimed(this.context, attempt);
    publish('claimed', this.context);
  }

  #call<T>(
    start: (call: StoreCall) => T | PromiseLike<T>,
    timeoutMs: number = Number.POSITIVE_INFINITY,
  ): Promise<T> {
    const { runtime, storeTimeoutMs } = this.#settings;
    const limitMs = Math.max(1, Math.min(storeTimeoutMs, Math.ceil(timeoutMs)));
    return withDeadline(runtime, limitMs, start, storeTooLate) as Promise<T>;
  }

  #expect(phase: 'reserved' | 'admitted' | 'running'): void {
    if (this.#phase === phase) return;
    throw new Error(`An attempt that is ${this.#phase} was used as if it were ${phase}.`);
  }
}

/** What is to be saved, and how that ended: no end yet means that it is tried again. */
class SavingWork {
  response: SavedResponse;
  ended: 'saved' | 'fenced' | undefined;

  constructor(response: SavedResponse) {
    this.response = response;
  }
}

function storeTooLate(limitMs: number): IdempotencyError {
  return new IdempotencyError('store_timeout', `The store did not answer within ${limitMs} ms.`);
}

function admitInvalid(answer: unknown): IdempotencyError {
  const got = typeof answer === 'number' ? String(answer) : typeof answer;
  return new IdempotencyError(
    'admit_invalid',
    `Expected admit to answer 0, 429 or 503, got ${got}. Return 0 to let the handler run.`,
  );
}
