/**
 * Gathers what is added in one turn of the event loop and hands it on together, so that many calls
 * share one round trip or one commit. A single item waits no longer than to the end of its turn.
 */
export class Coalescer<Item> {
  readonly #send: (batch: Item[]) => void;
  readonly #maxItems: number;
  #waiting: Item[] = [];
  #isScheduled = false;

  /** `send` gets at most `maxItems` at a time, in the order in which they came. It never throws. */
  constructor(send: (batch: Item[]) => void, maxItems: number) {
    this.#send = send;
    this.#maxItems = maxItems;
  }

  add(item: Item): void {
    this.#waiting.push(item);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // After the poll phase: everything that the sockets brought in this turn has been added by now.
    setImmediate(() => {
      this.#isScheduled = false;
      const batch = this.#waiting.splice(0, this.#maxItems);
      // The rest waits for the next turn, so that sockets are served in between.
      if (this.#waiting.length > 0) this.#schedule();
      this.#send(batch);
    });
  }
}
