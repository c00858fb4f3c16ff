import { Coalescer } from './coalescer.ts';

/** How {@link Lanes} send what waits. */
export interface LaneRules<Item, Answer> {
  /** Sends one item. */
  readonly sendOne: (item: Item) => Promise<Answer>;
  /** Sends several together; `undefined` for an item that has to be sent by itself. */
  readonly sendMany: (items: readonly Item[]) => Promise<readonly (Answer | undefined)[]>;
  /** Whether a rejection of `sendMany` proves that nothing was applied, and one may be to blame. */
  readonly mayConcernOne: (error: unknown) => boolean;
  /** The size of an item, in bytes. */
  readonly bytesOf?: (item: Item) => number;
  /** How many are sent together at most. */
  readonly maxItems: number;
  /** How many bytes are sent together at most; a larger item goes by itself. */
  readonly maxBytes: number;
  /** How many are under way at once, each on a connection of its own. */
  readonly lanes: number;
  /** After so long without an answer a lane no longer counts, and another is opened beside it. */
  readonly stuckAfterMs: number;
}

/**
 * Sends calls to a server. As long as a lane is free a call goes out at the end of its turn of the
 * event loop; what comes while all lanes are busy waits, and goes out together. So one call at a
 * time costs what one statement costs, and many share a round trip and a commit.
 */
export class Lanes<Item, Answer> {
  readonly #rules: LaneRules<Item, Answer>;
  readonly #coalescer: Coalescer<Waiting<Item, Answer>>;
  #waiting: Waiting<Item, Answer>[] = [];
  #busy = 0;

  constructor(rules: LaneRules<Item, Answer>) {
    this.#rules = rules;
    this.#coalescer = new Coalescer((arrived) => {
      this.#waiting.push(...arrived);
      this.#sendWaiting();
    }, rules.maxItems);
  }

  send(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#coalescer.add({ item, resolve, reject });
    });
  }

  #sendWaiting(): void {
    while (this.#busy < this.#rules.lanes && this.#waiting.length > 0) {
      this.#open(this.#waiting.splice(0, this.#countOfNext()));
    }
  }

  /** How many of those in front go together: at least one. */
  #countOfNext(): number {
    const { bytesOf = () => 0, maxBytes, maxItems } = this.#rules;
    let bytes = 0;
    let count = 0;
    for (const { item } of this.#waiting) {
      bytes += bytesOf(item);
      if (count === maxItems || (count > 0 && bytes > maxBytes)) break;
      count += 1;
    }
    return count;
  }

  #open(batch: Waiting<Item, Answer>[]): void {
    let isFree = false;
    const free = () => {
      if (isFree) return;
      isFree = true;
      this.#busy -= 1;
      this.#sendWaiting();
    };
    this.#busy += 1;
    const timer = setTimeout(free, this.#rules.stuckAfterMs);
    timer.unref();
    void this.#answer(batch).finally(() => {
      clearTimeout(timer);
      free();
    });
  }

  async #answer(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    const [first] = batch;
    if (batch.length === 1 && first !== undefined) return this.#answerOne(first);
    try {
      const answers = await this.#rules.sendMany(batch.map(({ item }) => item));
      const rest: Promise<void>[] = [];
      for (const [index, waiting] of batch.entries()) {
        const answer = answers[index];
        if (answer === undefined) rest.push(this.#answerOne(waiting));
        else waiting.resolve(answer);
      }
      await Promise.all(rest);
    } catch (error) {
      if (!this.#rules.mayConcernOne(error)) for (const { reject } of batch) reject(error);
      else await Promise.all(batch.map((waiting) => this.#answerOne(waiting)));
    }
  }

  /** Never rejects. */
  #answerOne({ item, resolve, reject }: Waiting<Item, Answer>): Promise<void> {
    return this.#rules.sendOne(item).then(resolve, reject);
  }
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}
