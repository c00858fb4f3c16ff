import { FencedError } from '../core/errors.ts';
import { copySavedResponse, type SavedResponse } from '../core/saved-response.ts';
import type {
  Attempt,
  Claim,
  IdempotencyStore,
  InspectCapability,
  StoreCall,
} from '../core/store.ts';
import { type StoreAnswer, StoreHistory, type StoreMethod } from './store-history.ts';

/** What happens to a call of a {@link FaultyStore}. */
export type StoreFault =
  /** Rejected, and not applied. */
  | { readonly kind: 'reject'; readonly error?: unknown }
  /** Applied, and its answer lost: the caller sees a rejection. */
  | { readonly kind: 'apply-then-reject'; readonly error?: unknown }
  /** Not applied, never answered. */
  | { readonly kind: 'hang' }
  /** Applied, never answered. */
  | { readonly kind: 'apply-then-hang' }
  /** Applied at once, answered after `afterMs`, or else at {@link FaultyStore.letGo}. */
  | { readonly kind: 'reply-late'; readonly afterMs?: number }
  /** Applied and answered after `afterMs`, or else at {@link FaultyStore.letGo}. */
  | { readonly kind: 'apply-late'; readonly afterMs?: number }
  /** Not applied, and answered with `value`, whatever that is. */
  | { readonly kind: 'answer'; readonly value: unknown };

/** Which calls of a method meet a fault. */
export interface FaultTiming {
  /**
   * The first call that meets it: 1 is the next one.
   *
   * @default 1
   */
  readonly at?: number;
  /**
   * How many calls meet it; `Infinity` for all from then on.
   *
   * @default 1
   */
  readonly times?: number;
}

/**
 * A store that fails, hangs, loses an answer or answers nonsense at a chosen call, and keeps a
 * journal of all calls. Like the worst of backends it pays no regard to the deadline of a call.
 *
 * @example
 * ```ts
 * const store = new FaultyStore(new MemoryStore());
 * store.inject('claim', { kind: 'apply-then-reject' }, { at: 2 });
 * ```
 */
export class FaultyStore implements IdempotencyStore {
  readonly history: StoreHistory;
  /** Passed on, when the wrapped store offers it. It meets no faults. */
  readonly inspect?: InspectCapability['inspect'];
  readonly #store: IdempotencyStore;
  readonly #planned: PlannedFault[] = [];
  readonly #held = new Set<() => Promise<unknown>>();

  /** Give several stores one `history`, to check what they did together. */
  constructor(store: IdempotencyStore, options: { readonly history?: StoreHistory } = {}) {
    this.#store = store;
    this.history = options.history ?? new StoreHistory();
    const { inspect } = store as Partial<InspectCapability>;
    if (typeof inspect === 'function') this.inspect = inspect.bind(store);
  }

  /** Plans a fault. Of several that are due at one call the one planned first is met. */
  inject(method: StoreMethod, fault: StoreFault, timing: FaultTiming = {}): this {
    this.#planned.push({
      method,
      fault,
      callsBefore: (timing.at ?? 1) - 1,
      callsLeft: timing.times ?? 1,
    });
    return this;
  }

  /** From now on every call is passed on. Calls that are held stay held. */
  heal(): void {
    this.#planned.length = 0;
  }

  /** Lets the late calls that wait for it go on, and waits until they are answered. */
  async letGo(): Promise<void> {
    const held = [...this.#held];
    this.#held.clear();
    await Promise.allSettled(held.map((resume) => resume()));
  }

  async claim(key: string, fingerprint: string, context: Attempt, call: StoreCall): Promise<Claim> {
    const end = this.history.begin({ method: 'claim', key, fingerprint, owner: context.owner });
    const apply = () => this.#store.claim(key, fingerprint, context, call);
    const claim = await this.#meet('claim', apply, end);
    end(answerOf(claim));
    return claim;
  }

  async complete(
    key: string,
    response: SavedResponse,
    context: Attempt,
    call: StoreCall,
  ): Promise<void> {
    const { owner } = context;
    const end = this.history.begin({ method: 'complete', key, owner, response });
    // What is applied late was on its way already: later changes of `response` do not reach it.
    let sent = response;
    const apply = () => this.#store.complete(key, sent, context, call);
    const onHold = () => {
      sent = copySavedResponse(response);
    };
    const answer = await this.#meet('complete', apply, end, onHold);
    end({ outcome: 'resolved' });
    return answer;
  }

  async release(key: string, context: Attempt, call: StoreCall): Promise<void> {
    const end = this.history.begin({ method: 'release', key, owner: context.owner });
    const answer = await this.#meet('release', () => this.#store.release(key, context, call), end);
    end({ outcome: 'resolved' });
    return answer;
  }

  async #meet<T>(
    method: StoreMethod,
    apply: () => Promise<T>,
    end: (answer: StoreAnswer) => void,
    onHold: () => void = () => {},
  ): Promise<T> {
    try {
      return await this.#apply(this.#faultFor(method), apply, onHold);
    } catch (error) {
      end({ outcome: error instanceof FencedError ? 'fenced' : 'rejected' });
      throw error;
    }
  }

  async #apply<T>(
    fault: StoreFault | undefined,
    apply: () => Promise<T>,
    onHold: () => void,
  ): Promise<T> {
    switch (fault?.kind) {
      case undefined:
        return apply();
      case 'reject':
        throw fault.error ?? new Error('FaultyStore: refused, and not applied.');
      case 'apply-then-reject':
        await apply();
        throw fault.error ?? new Error('FaultyStore: applied, and its answer lost.');
      case 'hang':
        return new Promise<never>(() => {});
      case 'apply-then-hang':
        await apply().catch(() => {});
        return new Promise<never>(() => {});
      case 'reply-late': {
        const answer = apply();
        answer.catch(() => {});
        return this.#hold(() => answer, fault.afterMs);
      }
      case 'apply-late':
        onHold();
        return this.#hold(apply, fault.afterMs);
      case 'answer':
        return fault.value as T;
      default:
        throw new Error(`FaultyStore: unknown fault ${fault satisfies never}.`);
    }
  }

  #hold<T>(resume: () => Promise<T>, afterMs: number | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const goOn = () => resume().then(resolve, reject);
      if (afterMs === undefined) this.#held.add(goOn);
      else setTimeout(goOn, afterMs);
    });
  }

  #faultFor(method: StoreMethod): StoreFault | undefined {
    let due: StoreFault | undefined;
    for (const planned of this.#planned) {
      if (planned.method !== method || planned.callsLeft === 0) continue;
      if (planned.callsBefore > 0) planned.callsBefore -= 1;
      else if (due === undefined) {
        planned.callsLeft -= 1;
        due = planned.fault;
      }
    }
    return due;
  }
}

interface PlannedFault {
  readonly method: StoreMethod;
  readonly fault: StoreFault;
  callsBefore: number;
  callsLeft: number;
}

/** What the journal keeps of an answer to `claim`, which may be nonsense by intent. */
function answerOf(claim: Claim | undefined): StoreAnswer {
  switch (claim?.kind) {
    case 'new':
      return { outcome: 'new', attempt: claim.attempt };
    case 'replay':
      try {
        return { outcome: 'replay', response: copySavedResponse(claim.response) };
      } catch {
        return { outcome: 'nonsense' };
      }
    case 'pending':
    case 'conflict':
    case 'expired':
      return { outcome: claim.kind };
    default:
      return { outcome: 'nonsense' };
  }
}
