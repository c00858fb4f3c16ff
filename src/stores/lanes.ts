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
 * Sends calls to a server. As long as a lane is free a call goes out at once, with what else was
 * called in the same tick; what comes while all lanes are busy waits, and goes out together. So one
 * call at a time costs what one statement costs, and many share a round trip and a commit.
 */
export class Lanes<Item, Answer> {
  readonly #rules: LaneRules<Item, Answer>;
  readonly #busy = new Set<Lane>();
  #waiting: Waiting<Item, Answer>[] = [];
  #isScheduled = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(rules: LaneRules<Item, Answer>) {
    this.#rules = rules;
  }

  send(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      // Runs when the promises that are settled by now have been, and before any input is read.
      process.nextTick(() => {
        this.#isScheduled = false;
        this.#sendWaiting();
      });
    });
  }

  #sendWaiting(): void {
    while (this.#waiting.length > 0) {
      if (this.#busy.size >= this.#rules.lanes) {
        this.#watch();
        return;
      }
      this.#open(this.#waiting.splice(0, this.#countOfNext()));
    }
  }

  /** While something waits: lanes that are stuck no longer count. */
  #watch(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const stuckMs = performance.now() - this.#rules.stuckAfterMs;
      for (const lane of this.#busy) if (lane.openedMs <= stuckMs) this.#busy.delete(lane);
      this.#sendWaiting();
    }, this.#rules.stuckAfterMs).unref();
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
    const lane = { openedMs: performance.now() };
    this.#busy.add(lane);
    void this.#answer(batch).then(() => {
      this.#busy.delete(lane);
      if (this.#waiting.length > 0) this.#sendWaiting();
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

interface Lane {
  readonly openedMs: number;
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}
