import { downstreamKey } from './downstream-key.ts';
import { IdempotencyError } from './errors.ts';
import { checkArgument, type OptionOwner } from './option-check.ts';
import { isRecordName } from './record-key.ts';
import type { Done, ResponseWords } from './recovery-outcome.ts';
import type {
  HandlerPowers,
  RegisteredTransaction,
  RunningAttempt,
  Settled,
} from './running-attempt.ts';
import { isSendable } from './sendable.ts';
import type { Attempt } from './store.ts';

/** What names an attempt, settled before the store is asked. */
export type AttemptIdentity = Omit<Attempt, 'owner' | 'attempt' | 'leaseMs' | 'signal'>;

/** The one object that `claim`, `admit`, the handler, `complete` and `release` are given. */
export class AttemptContext implements RunningAttempt {
  readonly key: string;
  readonly recordKey: string;
  readonly tenant: string | undefined;
  readonly operation: string | undefined;
  readonly fingerprint: string;
  readonly owner: string;
  readonly attempt: number = 1;
  readonly leaseMs: number | undefined;
  #gone = false;
  #controller: AbortController | undefined;
  #powers: HandlerPowers | undefined;
  readonly #watch: (gone: () => void) => void;

  /** `watch` is called at most once, and calls back when the client is gone. */
  constructor(
    identity: AttemptIdentity,
    owner: string,
    watch: (gone: () => void) => void,
    leaseMs?: number,
  ) {
    this.key = identity.key;
    this.recordKey = identity.recordKey;
    this.tenant = identity.tenant;
    this.operation = identity.operation;
    this.fingerprint = identity.fingerprint;
    this.owner = owner;
    this.leaseMs = leaseMs;
    this.#watch = watch;
  }

  /** Made on first use: most requests never look at it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#gone) this.#controller.abort();
      else this.#watch(() => AttemptContext.clientGone(this));
    }
    return this.#controller.signal;
  }

  get tx(): RegisteredTransaction {
    return this.#running().tx() as RegisteredTransaction;
  }

  commitSync(write: (tx: RegisteredTransaction) => ResponseWords): void {
    checkArgument(asked('commitSync'), typeof write === 'function', write, 'a function');
    this.#running().commitSync(write as (tx: never) => ResponseWords);
  }

  async settle(outcome: Done): Promise<Settled> {
    const isDone = outcome?.kind === 'done' && isSendable(outcome.response);
    checkArgument(asked('settle'), isDone, outcome, 'done(response)');
    return this.#running().settle(outcome);
  }

  downstreamKey(name: string, form: 'text' | 'uuid' = 'text'): string {
    checkArgument(asked('downstreamKey'), isRecordName(name), name, 'a name for the provider');
    checkArgument(
      asked('downstreamKey'),
      form === 'text' || form === 'uuid',
      form,
      "'text' or 'uuid'",
    );
    return downstreamKey(this, name, form);
  }

  /** The client is gone. The work goes on: its result is for the retry. */
  static clientGone(context: AttemptContext): void {
    context.#gone = true;
    context.#controller?.abort();
  }

  /** Settles the number that the store gave, and freezes the object: user code holds it next. */
  static claimed(context: AttemptContext, attempt: number): void {
    (context as { attempt: number }).attempt = attempt;
    Object.freeze(context);
  }

  /** From now on the handler may say what became of it. */
  static started(context: AttemptContext, powers: HandlerPowers): void {
    context.#powers = powers;
  }

  #running(): HandlerPowers {
    if (this.#powers !== undefined) return this.#powers;
    throw new IdempotencyError(
      'transaction_over',
      'Expected tx, commitSync and settle to be used by the handler, got one of them before it ' +
        'runs, as in admit. Move this into the handler.',
    );
  }
}

function asked(method: string): OptionOwner {
  return { name: `${method}(…)`, page: 'docs/recovery.md' };
}
