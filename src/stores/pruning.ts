import { A_FUNCTION, checkOptions, milliseconds, wholeNumber } from '../core/option-check.ts';
import type { PruneCapability } from '../core/store.ts';

/** The options of {@link startPruning}. */
export interface PruningOptions {
  /**
   * The time between two rounds, on average: it varies by a fifth, so that replicas which were
   * started together do not stay together.
   *
   * @default 60_000
   */
  readonly everyMs?: number;
  /**
   * How many records are changed in one step. Between two steps of a round there is a pause, so
   * that requests are served in between.
   *
   * @default 1_000
   */
  readonly batchSize?: number;
  /** What is told when a round fails; the next one tries again. Default: a process warning. */
  readonly onError?: (error: unknown) => void;
}

/** Pruning that goes on until it is stopped. */
export interface Pruning extends AsyncDisposable {
  /** Resolves when the step that is under way has ended; none begins after that. */
  stop(): Promise<void>;
}

/**
 * Prunes a store in the background, at once and then every so often. Its timers keep no process
 * alive. Several replicas may do it at once, or one of them, or a job of your own that calls
 * `prune` until it answers 0.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function startPruning(store: PruneCapability, options: PruningOptions = {}): Pruning {
  checkOptions<PruningOptions>(START_PRUNING, options, {
    everyMs: milliseconds(1, MAX_TIMER_MS),
    batchSize: wholeNumber(1, 100_000),
    onError: A_FUNCTION,
  });
  const { everyMs = 60_000, batchSize = 1_000, onError = warn } = options;
  const stopping = new AbortController();
  let wake = () => {};
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      wake = resolve;
      setTimeout(resolve, ms).unref();
    });
  const round = async () => {
    const step = { limit: batchSize, signal: stopping.signal };
    while (!stopping.signal.aborted && (await store.prune(step)) > 0) await pause(PAUSE_MS);
  };
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await round().catch(onError);
      if (!stopping.signal.aborted) await pause(everyMs * (0.8 + Math.random() * 0.4));
    }
  })();
  const stop = () => {
    stopping.abort();
    wake();
    return running;
  };
  return { stop, [Symbol.asyncDispose]: stop };
}

const START_PRUNING = { name: 'startPruning(…)', page: 'docs/stores/choosing.md' };
/** The longest that a timer of Node takes is 2^31 - 1 ms; the variation needs a fifth of it. */
const MAX_TIMER_MS = 1_700_000_000;
const PAUSE_MS = 100;

function warn(error: unknown): void {
  const why = (error as Partial<Error> | null)?.message ?? String(error);
  process.emitWarning(`Pruning failed, and will be tried again: ${why}`, {
    type: 'IdempotencyWarning',
  });
}
