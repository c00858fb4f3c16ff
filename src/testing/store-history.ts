import { copySavedResponse, type SavedResponse } from '../core/saved-response.ts';
import type { Claim } from '../core/store.ts';

/** The three required methods of a store. */
export type StoreMethod = 'claim' | 'complete' | 'release';

/** What the caller of a store method saw: an answer, a rejection, or (so far) nothing. */
export type StoreOutcome =
  | Claim['kind']
  | 'resolved'
  /** `complete` was rejected with a `FencedError`: a definite answer. */
  | 'fenced'
  /** Rejected otherwise: the call may have been applied, or may be applied later. */
  | 'rejected'
  /** Resolved with something that is no answer of a store. */
  | 'nonsense'
  | 'unanswered';

/** One call of a store method, as its caller saw it. */
export interface StoreEvent {
  readonly method: StoreMethod;
  readonly key: string;
  readonly owner: string;
  /** Of a `claim`. */
  readonly fingerprint: string | undefined;
  /** Given to `complete`, or answered by `claim` as a replay. A copy. */
  readonly response: SavedResponse | undefined;
  /** Number of this attempt, when the claim was `new`. */
  readonly attempt: number | undefined;
  readonly outcome: StoreOutcome;
  /** Begin and end on one count that all calls share; `undefined` while there is no answer. */
  readonly begunAt: number;
  readonly endedAt: number | undefined;
}

/** What is known of a call when it begins. */
export type StoreCallNote = Pick<StoreEvent, 'method' | 'key' | 'owner'> &
  Partial<Pick<StoreEvent, 'fingerprint' | 'response'>>;

/** What is known of a call when it is answered. */
export type StoreAnswer = Pick<StoreEvent, 'outcome'> &
  Partial<Pick<StoreEvent, 'response' | 'attempt'>>;

/** The calls of one or several stores in the order in which they began. */
export class StoreHistory {
  readonly events: StoreEvent[] = [];
  #ticks = 0;

  /** The names of the methods, in the order of their calls: `claim complete`. */
  get methods(): StoreMethod[] {
    return this.events.map((event) => event.method);
  }

  /** Notes a call; what is returned notes its answer. */
  begin(call: StoreCallNote): (answer: StoreAnswer) => void {
    const index = this.events.length;
    const event: StoreEvent = {
      ...call,
      fingerprint: call.fingerprint,
      response: call.response && copySavedResponse(call.response),
      attempt: undefined,
      outcome: 'unanswered',
      begunAt: this.#tick(),
      endedAt: undefined,
    };
    this.events.push(event);
    return (answer) => {
      this.events[index] = { ...event, ...answer, endedAt: this.#tick() };
    };
  }

  #tick(): number {
    this.#ticks += 1;
    return this.#ticks;
  }
}
