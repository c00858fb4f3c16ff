import type { AttemptStore } from '../../src/core/attempt-settings.ts';
import type { SavedResponse } from '../../src/core/saved-response.ts';
import type { Attempt } from '../../src/core/store.ts';
import type {
  OpenTransaction,
  TransactionAdapter,
  TransactionLimits,
} from '../../src/core/transaction.ts';
import type { MemoryStore } from '../../src/stores/memory.ts';
import type { PlannedCalls } from './planned-calls.ts';

/** A store in memory that offers every capability, and whose calls a test can plan. */
export function plannedStore(memory: MemoryStore, calls: PlannedCalls) {
  const store = {
    dialect: 'postgres',
    claim: (key, fingerprint, context) =>
      calls.meet('claim', () => memory.claim(key, fingerprint, context)),
    complete: (key, response, context) =>
      calls.meet('complete', () => memory.complete(key, response, context)),
    release: (key, context) => calls.meet('release', () => memory.release(key, context)),
    renew: (key, leaseMs, context) =>
      calls.meet('renew', () => memory.renew(key, leaseMs, context)),
    takeOver: (key, fingerprint, context, options) =>
      calls.meet('takeOver', () => memory.takeOver(key, fingerprint, context, options)),
    inspect: (key) => calls.meet('inspect', () => memory.inspect(key)),
    completeIn: (transaction, key, response, context) =>
      calls.meet('completeIn', async () => {
        await transaction.query('complete', [key, response, context]);
      }),
    commitSync: (key, context, write) =>
      calls.meet('commitSync', () => {
        const response = write('the handle');
        void memory.complete(key, response, context);
        return response;
      }),
  } satisfies AttemptStore & { readonly dialect: string };
  return store;
}

/** What a handler of {@link FakeDatabase} writes with. */
export interface FakeTransaction {
  write(row: string): void;
}

/** A database whose transactions keep rows and records of `memory` together, or neither. */
export class FakeDatabase implements TransactionAdapter<FakeTransaction> {
  readonly dialect = 'postgres';
  readonly rows: string[] = [];
  limits: TransactionLimits | undefined;
  /** Transactions that have begun and have not ended. */
  open = 0;
  readonly #memory: MemoryStore;
  readonly #calls: PlannedCalls;

  constructor(memory: MemoryStore, calls: PlannedCalls) {
    this.#memory = memory;
    this.#calls = calls;
  }

  begin(limits: TransactionLimits): Promise<OpenTransaction<FakeTransaction>> {
    this.limits = limits;
    return this.#calls.meet('begin', async () => {
      this.open += 1;
      return this.#transaction();
    });
  }

  #transaction(): OpenTransaction<FakeTransaction> {
    const written: string[] = [];
    let completion: [key: string, response: SavedResponse, context: Attempt] | undefined;
    return {
      tx: { write: (row) => this.#calls.meet('write', () => void written.push(row)) },
      query: async (_text, values) => {
        const [key, response, context] = values as typeof completion & unknown[];
        // As the database would: of a record that is another's, nothing is changed.
        const probe = await this.#memory.inspect(key);
        if (probe?.owner !== context.owner) await this.#memory.complete(key, response, context);
        completion = [key, response, context];
      },
      commit: () =>
        this.#calls.meet('commit', async () => {
          if (completion !== undefined) await this.#memory.complete(...completion);
          this.rows.push(...written);
          this.open -= 1;
        }),
      rollback: () =>
        this.#calls.meet('rollback', async () => {
          this.open -= 1;
        }),
    };
  }
}
