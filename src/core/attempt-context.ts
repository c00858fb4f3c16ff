import type { Attempt } from './store.ts';

/** What names an attempt, settled before the store is asked. */
export type AttemptIdentity = Omit<Attempt, 'owner' | 'attempt' | 'signal'>;

/** The one object that `claim`, `admit`, the handler, `complete` and `release` are given. */
export class AttemptContext implements Attempt {
  readonly key: string;
  readonly recordKey: string;
  readonly tenant: string | undefined;
  readonly operation: string | undefined;
  readonly fingerprint: string;
  readonly owner: string;
  readonly attempt: number = 1;
  #gone = false;
  #controller: AbortController | undefined;
  readonly #watch: (gone: () => void) => void;

  /** `watch` is called at most once, and calls back when the client is gone. */
  constructor(identity: AttemptIdentity, owner: string, watch: (gone: () => void) => void) {
    this.key = identity.key;
    this.recordKey = identity.recordKey;
    this.tenant = identity.tenant;
    this.operation = identity.operation;
    this.fingerprint = identity.fingerprint;
    this.owner = owner;
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
}
