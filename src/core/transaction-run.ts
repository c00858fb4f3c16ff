import type { AttemptContext } from './attempt-context.ts';
import { type AttemptSettings, callStore } from './attempt-settings.ts';
import { FencedError, IdempotencyError } from './errors.ts';
import { publish } from './events.ts';
import type { Recovery, TransactionalRecovery } from './recovery.ts';
import { type ResponseWords, savedResponseOf } from './recovery-outcome.ts';
import { delay } from './runtime.ts';
import type { SavedResponse } from './saved-response.ts';
import type { Saving } from './saving.ts';
import type { RecordView } from './store.ts';
import { isUndone, type OpenTransaction } from './transaction.ts';

/** The transaction of one attempt: the handler's writes and the saved response, or neither. */
export class TransactionRun {
  readonly #context: AttemptContext;
  readonly #settings: AttemptSettings;
  #open: OpenTransaction | undefined;
  #timer: unknown;
  #isOver = false;
  #rolledBack: Promise<boolean> | undefined;

  private constructor(context: AttemptContext, settings: AttemptSettings) {
    this.#context = context;
    this.#settings = settings;
  }

  /** @throws what the adapter throws, and `store_timeout`: nothing was begun. */
  static async begin(
    context: AttemptContext,
    settings: AttemptSettings,
    { adapter, limits, maxRunMs }: TransactionalRecovery,
  ): Promise<TransactionRun> {
    const run = new TransactionRun(context, settings);
    if (adapter === undefined) return run;
    let begun: Promise<OpenTransaction> | undefined;
    try {
      run.#open = await callStore(settings, () => {
        begun = adapter.begin(limits);
        return begun;
      });
    } catch (error) {
      // One that begins late is nobody's: it must not keep its connection.
      begun?.then((late) => late.rollback()).catch(() => undefined);
      throw error;
    }
    // A handler that never answers must not keep its connection for ever.
    run.#timer = settings.runtime.setTimer(() => void run.undo(), maxRunMs);
    return run;
  }

  /** @throws {IdempotencyError} `transaction_over` where there is none, or none any more. */
  get tx(): unknown {
    if (this.#open === undefined || this.#isOver) throw over();
    return this.#open.tx;
  }

  /** Whether there is one that `commit` would end, or that has ended before its time. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Completes the record in the transaction, and commits both. Never rejects. */
  async commit(response: SavedResponse): Promise<Saving | { readonly kind: 'fenced' }> {
    const { store } = this.#settings;
    const context = this.#context;
    const open = this.#open as OpenTransaction;
    if (this.#isOver) return { kind: 'failed', error: over() };
    this.#end();
    try {
      await callStore(this.#settings, () =>
        store.completeIn?.(open, context.recordKey, response, context),
      );
    } catch (error) {
      await this.#rollback(open);
      if (error instanceof FencedError) return { kind: 'fenced' };
      publish('save-failed', context, { error });
      return { kind: 'failed', error };
    }
    try {
      await callStore(this.#settings, () => open.commit());
    } catch (error) {
      publish('save-failed', context, { error });
      if (isUndone(error)) return { kind: 'failed', error };
      return this.#lookForCommit();
    }
    publish('completed', context, { status: response.status });
    return { kind: 'saved' };
  }

  /** The same in one go, with the store's own handle. Throws what undid it. */
  commitSync(write: (tx: unknown) => unknown): SavedResponse {
    const { store } = this.#settings;
    const context = this.#context;
    if (this.#open !== undefined || store.commitSync === undefined)
      throw noTransaction(this.#settings.recovery?.mode);
    const response = store.commitSync(context.recordKey, context, (tx) => {
      const words = write(tx);
      refusePromise(words);
      return savedResponseOf(words as ResponseWords);
    });
    publish('completed', context, { status: response.status });
    return response;
  }

  /** Answers whether nothing of it can take effect any more. Never rejects. */
  async undo(): Promise<boolean> {
    if (this.#open === undefined) return true;
    if (this.#isOver) return this.#rolledBack ?? true;
    this.#end();
    return this.#rollback(this.#open);
  }

  #rollback(open: OpenTransaction): Promise<boolean> {
    this.#rolledBack = callStore(this.#settings, () => open.rollback()).then(
      () => true,
      (error: unknown) => {
        publish('rollback-failed', this.#context, { error });
        return false;
      },
    );
    return this.#rolledBack;
  }

  #end(): void {
    this.#isOver = true;
    this.#settings.runtime.clearTimer(this.#timer);
  }

  /** The reply to COMMIT was lost: the record says whether it took effect, once it has. */
  async #lookForCommit(): Promise<Saving | { readonly kind: 'fenced' }> {
    const { runtime, storeTimeoutMs } = this.#settings;
    const { owner } = this.#context;
    const endMs = runtime.nowMs() + storeTimeoutMs;
    for (;;) {
      const found = await this.#inspect(endMs - runtime.nowMs());
      if (found !== 'unknown' && found?.owner !== owner) return { kind: 'fenced' };
      if (found !== 'unknown' && found?.state === 'completed') {
        publish('completed', this.#context, { status: found.response?.status ?? 0 });
        return { kind: 'saved' };
      }
      if (runtime.nowMs() + LOOK_AGAIN_MS >= endMs) break;
      await delay(runtime, LOOK_AGAIN_MS);
    }
    publish('unsaved', this.#context);
    return { kind: 'unsaved' };
  }

  async #inspect(timeoutMs: number): Promise<RecordView | undefined | 'unknown'> {
    const { store } = this.#settings;
    try {
      const { recordKey } = this.#context;
      const look = callStore(this.#settings, (call) => store.inspect?.(recordKey, call), timeoutMs);
      return await look;
    } catch {
      return 'unknown';
    }
  }
}

const LOOK_AGAIN_MS = 100;

function over(): IdempotencyError {
  return new IdempotencyError(
    'transaction_over',
    'Expected an open transaction, got none, or one that has ended. Use req.idempotency.tx ' +
      'before the answer, under recovery: transactional(adapter).',
  );
}

/** What it does later would be done outside of the transaction. */
function refusePromise(words: unknown): void {
  const { then } = (words ?? {}) as { readonly then?: unknown };
  if (typeof then !== 'function') return;
  Promise.resolve(words).catch(() => undefined);
  throw new IdempotencyError(
    'commit_not_synchronous',
    'Expected the function given to commitSync to answer { status, headers, body }, got a ' +
      'promise. Await what you need before commitSync, and only write in it.',
  );
}

/** What is thrown where the mode, or the store, has no such transaction. */
export function noTransaction(mode: Recovery['mode'] | undefined): IdempotencyError {
  const got = mode === 'transactional' ? 'another of the two' : `recovery: ${mode ?? 'blind'}(…)`;
  return new IdempotencyError(
    'transaction_over',
    'Expected recovery: transactional(adapter) for tx, or transactional() on a SqliteStore for ' +
      `commitSync, got ${got}.`,
  );
}

/** What is answered in place of a response that cannot be kept with the writes. */
export function responseTooLarge(): IdempotencyError {
  return new IdempotencyError(
    'response_too_large',
    'Expected a response of at most maxResponseBytes, got a larger one: nothing was committed. ' +
      'Raise maxResponseBytes, or answer with a reference to what was made.',
  );
}
