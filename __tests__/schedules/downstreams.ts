import type { AttemptMachine } from '../../src/core/attempt.ts';
import { FencedError } from '../../src/core/errors.ts';
import { blind, keyed, type Recovery, sealed, transactional } from '../../src/core/recovery.ts';
import { done, neverStarted } from '../../src/core/recovery-outcome.ts';
import type { SavedResponse } from '../../src/core/saved-response.ts';
import type { Attempt } from '../../src/core/store.ts';
import { type OpenTransaction, ROLLED_BACK } from '../../src/core/transaction.ts';
import type { MemoryStore } from '../../src/stores/memory.ts';
import type { CallTerms } from './pending-calls.ts';

/** Sends a call of one request to where the action happens. */
export type Send = <T>(name: string, apply: () => Promise<T>, terms?: CallTerms) => Promise<T>;

export const LEASE_MS = 900_000;
/** The first sign of life is past the longest run: a lease may end at any moment. */
const TERMS = { leaseMs: LEASE_MS, maxRunMs: 1 };

/** What handlers act on. A handler answers what `act` answers. */
export interface Downstream {
  /** How often the action was done. */
  readonly effects: number;
  /** The mode of a request that reaches this through `send`. */
  recovery(send: Send): Recovery;
  act(attempt: AttemptMachine, request: number, send: Send): Promise<string>;
  state(): unknown;
  /** Gives up what a process holds that has ended; a transaction, if there is one. */
  abort?(): void;
}

/** B: acts whenever it is asked. */
export class Blind implements Downstream {
  effects = 0;

  recovery(): Recovery {
    return blind({ onAbandoned: 'unknown', response: { status: 409, body: 'unknown' }, ...TERMS });
  }

  act(_attempt: AttemptMachine, request: number, send: Send): Promise<string> {
    return send('act', async () => {
      this.effects += 1;
      return `label of ${request}`;
    });
  }

  state(): unknown {
    return this.effects;
  }
}

/** K: recognises a key, and answers it as it did before. */
export class Provider implements Downstream {
  readonly #labels = new Map<string, string>();

  get effects(): number {
    return this.#labels.size;
  }

  recovery(): Recovery {
    return keyed({ rerunWithinMs: 1_000 * LEASE_MS, ...TERMS });
  }

  act({ context }: AttemptMachine, request: number, send: Send): Promise<string> {
    const key = context.downstreamKey('provider');
    return send('act', async () => {
      const label = this.#labels.get(key) ?? `label of ${request}`;
      this.#labels.set(key, label);
      return label;
    });
  }

  state(): unknown {
    return [...this.#labels.values()];
  }
}

/** S: takes nothing from attempts below its seal, and says what it has taken. */
export class Resource implements Downstream {
  readonly #labels: string[] = [];
  readonly #isSealing: boolean;
  #seal = 0;

  /** One that does not seal only looks, which is not enough. */
  constructor({ isSealing = true } = {}) {
    this.#isSealing = isSealing;
  }

  get effects(): number {
    return this.#labels.length;
  }

  recovery(send: Send): Recovery {
    return sealed({
      recover: ({ attempt }) =>
        send('seal', async () => {
          if (this.#isSealing) this.#seal = Math.max(this.#seal, attempt);
          const [label] = this.#labels;
          return label === undefined ? neverStarted() : done({ status: 201, body: label });
        }),
      recoverTimeoutMs: 100,
      ...TERMS,
    });
  }

  act({ context }: AttemptMachine, request: number, send: Send): Promise<string> {
    return send('act', async () => {
      if (context.attempt < this.#seal) throw new Error('sealed');
      this.#labels.push(`label of ${request}`);
      return `label of ${request}`;
    });
  }

  state(): unknown {
    return [this.#labels, this.#seal];
  }
}

interface Tx {
  label: string | undefined;
  completion: [key: string, response: SavedResponse, context: Attempt] | undefined;
  isOver: boolean;
}

/** T: a database that the records are in, too. Who completes a record in it locks that record. */
export class Database implements Downstream {
  effects = 0;
  readonly #records: MemoryStore;
  readonly #isGuarded: boolean;
  #locker: Tx | undefined;

  /** One that is not guarded completes a record whoever owns it. */
  constructor(records: MemoryStore, { isGuarded = true } = {}) {
    this.#records = records;
    this.#isGuarded = isGuarded;
  }

  get isLocked(): boolean {
    return this.#locker !== undefined;
  }

  recovery(send: Send): Recovery {
    const begin = async (): Promise<OpenTransaction<Tx>> => {
      const tx: Tx = { label: undefined, completion: undefined, isOver: false };
      const end = () => this.#end(tx);
      return {
        tx,
        query: (_text, values) =>
          send('completeIn', () => this.#complete(tx, values as never), {
            mayApply: () => this.#locker === undefined,
          }),
        commit: () => send('commit', () => this.#commit(tx), { onLost: end }),
        rollback: async () => end(),
      };
    };
    return transactional({ dialect: 'postgres', begin }, { leaseMs: LEASE_MS });
  }

  async act(attempt: AttemptMachine, request: number): Promise<string> {
    (attempt.tx as Tx).label = `label of ${request}`;
    return `label of ${request}`;
  }

  state(): unknown {
    return [this.effects, this.#locker?.label];
  }

  /** The database gives up on a transaction that holds a lock, or whose connection is gone. */
  abort(): void {
    if (this.#locker !== undefined) this.#end(this.#locker);
  }

  async #complete(tx: Tx, completion: [string, SavedResponse, Attempt]): Promise<void> {
    const found = await this.#records.inspect(completion[0]);
    const isOwn = found?.owner === completion[2].owner && found.state === 'pending';
    if (this.#isGuarded && !isOwn) throw new FencedError();
    tx.completion = completion;
    this.#locker = tx;
  }

  async #commit(tx: Tx): Promise<void> {
    if (tx.isOver) throw Object.assign(new Error('aborted'), { [ROLLED_BACK]: true });
    this.effects += 1;
    if (tx.completion !== undefined) await this.#records.complete(...tx.completion).catch(noOne);
    this.#end(tx);
  }

  #end(tx: Tx): void {
    tx.isOver = true;
    if (this.#locker === tx) this.#locker = undefined;
  }
}

/** Only where nothing guards the record can it be another's by now. */
function noOne(): void {}
