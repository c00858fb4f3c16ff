import { FencedError } from '../../core/errors.ts';
import { recordKeyDigest } from '../../core/record-key.ts';
import type {
  RenewCapability,
  SettleAnswer,
  SettleCapability,
  Settlement,
  SettlementNote,
  TakeOver,
  TakeOverCapability,
  TakeOverOptions,
} from '../../core/recovery-capabilities.ts';
import type { SavedResponse } from '../../core/saved-response.ts';
import type {
  Attempt,
  Claim,
  IdempotencyStore,
  InspectCapability,
  ListCapability,
  ListOptions,
  PruneCapability,
  RecordView,
  StoreCall,
} from '../../core/store.ts';
import type { CompleteInCapability } from '../../core/transaction.ts';
import { type Pruning, type PruningOptions, startPruning } from '../pruning.ts';
import { ResponseCodec } from '../response-columns.ts';
import type { Retention } from '../retention.ts';
import { withRetentionDefaults } from '../retention.ts';
import { Sealing } from '../sealing.ts';
import { type MySqlDurability, readDurability, refuseDataLoss } from './durability.ts';
import { checkVersion, migrate } from './migrations.ts';
import { checkMySqlOptions, type MySqlStoreOptions } from './options.ts';
import { PoolDriver } from './pool-driver.ts';
import { MySqlRecords } from './records.ts';
import { MySqlSession } from './session.ts';
import { DEFAULT_TABLE, Table } from './table.ts';
import { type MySqlTransaction, runIn } from './transaction.ts';

/**
 * A store in MariaDB or MySQL, shared by all replicas. What it acknowledged has been committed:
 * with the server's own defaults it outlives `kill -9` and a power cut of the server. A failover to
 * an asynchronous replica may lose it; `check` says what your settings mean.
 *
 * The client is lent: it is never ended, and its settings are not changed. Each statement is a
 * transaction of its own; calls that wait go out together.
 *
 * @example
 * ```ts
 * const store = new MySqlStore({ client: mysql.createPool({ uri: 'mysql://localhost/shop' }) });
 * await store.migrate();
 * await store.check();
 * app.post('/labels', idempotent(store), createLabel);
 * ```
 */
export class MySqlStore
  implements
    CompleteInCapability,
    IdempotencyStore,
    InspectCapability,
    ListCapability,
    PruneCapability,
    RenewCapability,
    SettleCapability,
    TakeOverCapability
{
  /** The word for which transactions a record can be completed in. */
  readonly dialect = 'mysql';
  readonly #session: MySqlSession;
  readonly #table: Table;
  readonly #codec: ResponseCodec;
  readonly #retention: Retention;
  readonly #records: MySqlRecords;
  readonly #acceptDataLoss: boolean;

  /** @throws {IdempotencyError} `option_invalid`. */
  constructor(options: MySqlStoreOptions) {
    checkMySqlOptions(options);
    const { client, table = DEFAULT_TABLE, prepare = true } = options;
    this.#table = new Table(table, options.now);
    this.#session = new MySqlSession(new PoolDriver(client, prepare), this.#table.title);
    this.#retention = withRetentionDefaults(options);
    const sealing = new Sealing(options.seal, options.acceptUnsealed ?? false);
    this.#codec = new ResponseCodec('MySqlStore', sealing);
    this.#records = new MySqlRecords(this.#session, this.#table, this.#codec, this.#retention);
    this.#acceptDataLoss = options.acceptDataLoss ?? false;
  }

  /**
   * Makes the table, or brings it to the version that this package knows. Safe when many replicas
   * do it at once, and when it was done before. The table is made by no other call.
   *
   * @throws {IdempotencyError} `store_not_migrated` when a newer package has changed the table.
   */
  async migrate(): Promise<void> {
    const endMs = performance.now() + SET_UP_TIMEOUT_MS;
    await migrate(this.#session, this.#table, endMs);
    await checkVersion(this.#session, this.#table, endMs);
  }

  /**
   * Reads the settings that decide what is left after a crash, and says what they mean.
   *
   * @throws {IdempotencyError} `store_read_only` on a replica, `store_not_migrated`, and
   *   `database_unusable` when acknowledged records can be lost: unless that is accepted with
   *   `acceptDataLoss`, which gives a warning, once.
   */
  async check(): Promise<MySqlDurability> {
    const endMs = endOf(undefined);
    const found = await readDurability(this.#session, this.#table, endMs);
    refuseDataLoss(found, this.#acceptDataLoss);
    await checkVersion(this.#session, this.#table, endMs);
    return found;
  }

  async claim(key: string, fingerprint: string, context: Attempt, call: StoreCall): Promise<Claim> {
    const id = recordKeyDigest(key);
    return this.#records.claim.run({ key, id, fingerprint, context, endMs: endOf(call) });
  }

  async complete(
    key: string,
    response: SavedResponse,
    context: Attempt,
    call: StoreCall,
  ): Promise<void> {
    const id = recordKeyDigest(key);
    const endMs = endOf(call);
    const { head, body } = await this.#codec.encode(key, response);
    return this.#records.complete.run({ id, owner: context.owner, head, body, endMs });
  }

  /**
   * `complete` as the last statement of a transaction of yours, which is open on `transaction`:
   * what you wrote in it and the saved response are committed together, or neither is. Unlike
   * `complete` it rejects when it is sent a second time, since what was written with the first is
   * not to be written again.
   *
   * @throws {FencedError} this attempt does not own the record, or has completed it already: roll
   *   back.
   */
  async completeIn(
    transaction: MySqlTransaction,
    key: string,
    response: SavedResponse,
    context: Attempt,
  ): Promise<void> {
    const id = recordKeyDigest(key);
    const columns = await this.#codec.encode(key, response);
    const query = this.#records.complete.queryFor(id, context.owner, columns);
    try {
      if ((await runIn(transaction, query)) === 1) return;
    } catch (error) {
      throw this.#session.errorOf(error);
    }
    throw new FencedError();
  }

  async release(key: string, context: Attempt, call: StoreCall): Promise<void> {
    return this.#records.release.run(recordKeyDigest(key), context.owner, endOf(call));
  }

  async inspect(key: string, call?: StoreCall): Promise<RecordView | undefined> {
    return this.#records.inspect.run(key, recordKeyDigest(key), endOf(call));
  }

  async list(options: ListOptions = {}): ReturnType<ListCapability['list']> {
    return this.#records.list.run(options, performance.now() + OPERATOR_TIMEOUT_MS);
  }

  async takeOver(
    key: string,
    fingerprint: string,
    context: Attempt,
    options: TakeOverOptions,
    call: StoreCall,
  ): Promise<TakeOver> {
    const id = recordKeyDigest(key);
    const { leases } = this.#records;
    return leases.takeOver(id, fingerprint, context, options.withinMs, endOf(call));
  }

  async renew(key: string, leaseMs: number, context: Attempt, call: StoreCall): Promise<void> {
    const { leases } = this.#records;
    return leases.renew(recordKeyDigest(key), context.owner, leaseMs, endOf(call));
  }

  async settle(
    key: string,
    settlement: Settlement,
    note: SettlementNote,
    options: { readonly force?: boolean } = {},
    call?: StoreCall,
  ): Promise<SettleAnswer> {
    const id = recordKeyDigest(key);
    const { settle } = this.#records;
    return settle.run(key, id, settlement, note, options.force ?? false, endOf(call));
  }

  /** One batch a call: two at most, each its own transaction. `limit` is 1,000 unless given. */
  async prune(
    options: { readonly limit?: number; readonly signal?: AbortSignal } = {},
  ): Promise<number> {
    const { limit = PRUNE_LIMIT, signal } = options;
    if (signal?.aborted) return 0;
    return this.#records.prune.run(limit, performance.now() + OPERATOR_TIMEOUT_MS);
  }

  /** Prunes in the background until it is stopped; see `startPruning`. */
  startPruning(options: PruningOptions = {}): Pruning {
    return startPruning(this, options);
  }
}

const DEFAULT_TIMEOUT_MS = 5_000;
const SET_UP_TIMEOUT_MS = 60_000;
const OPERATOR_TIMEOUT_MS = 60_000;
const PRUNE_LIMIT = 1_000;

/** The deadline of a call as a moment of `performance.now()`. */
function endOf(call: StoreCall | undefined): number {
  return performance.now() + (call?.timeoutMs ?? DEFAULT_TIMEOUT_MS);
}
