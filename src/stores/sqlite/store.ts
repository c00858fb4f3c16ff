import { IdempotencyError } from '../../core/errors.ts';
import { checkArgument } from '../../core/option-check.ts';
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
import type { CommitSyncCapability } from '../../core/transaction.ts';
import { type Pruning, type PruningOptions, startPruning } from '../pruning.ts';
import { type Retention, withRetentionDefaults } from '../retention.ts';
import { CommitSync } from './commit-sync.ts';
import { completionTimes, encodeResponse } from './complete.ts';
import { BUSY_WAIT_MS, type SqliteDurability } from './durability.ts';
import { GroupCommit } from './group-commit.ts';
import { SqliteConnection, type SqliteHandle } from './handle.ts';
import { openHandle } from './open-handle.ts';
import { checkSqliteOptions, SQLITE_STORE, type SqliteStoreOptions } from './options.ts';
import { SqliteRecords } from './records.ts';
import { SqliteSession } from './session.ts';
import { toIdempotencyError } from './sqlite-error.ts';
import { DEFAULT_TABLE, quoted } from './table-name.ts';

/**
 * A store in one SQLite file, shared by all processes of one machine. An acknowledged claim or
 * response outlives `kill -9` and a power cut: the file is in WAL mode with `synchronous=FULL`, and
 * nothing is answered before COMMIT. Never put the file on a network file system.
 *
 * Business tables may be in the same file, on a handle of their own. On a handle that is shared
 * with the store, no transaction may be held across an `await`: a call that finds one rejects with
 * `store_busy`, and its client is answered 503.
 *
 * @example
 * ```ts
 * await using store = await SqliteStore.open('./idempotency.db');
 * app.post('/labels', idempotent(store), createLabel);
 * ```
 */
export class SqliteStore
  implements
    IdempotencyStore,
    InspectCapability,
    ListCapability,
    PruneCapability,
    RenewCapability,
    TakeOverCapability,
    SettleCapability,
    CommitSyncCapability<SqliteHandle>
{
  readonly #handle: SqliteHandle;
  readonly #session: SqliteSession;
  readonly #records: SqliteRecords;
  readonly #writer: GroupCommit;
  readonly #retention: Retention;
  #ownsHandle = false;
  #closing: Promise<void> | undefined;

  /**
   * Opens the file, makes it when it is not there, and makes or migrates the tables. Takes
   * node:sqlite where this Node has it, else better-sqlite3.
   *
   * @throws {IdempotencyError} `driver_missing`, `database_unusable`, `store_not_migrated` when
   *   a newer package has changed the tables, `store_busy` when they stay locked for 10 seconds.
   */
  static async open(path: string, options: SqliteStoreOptions = {}): Promise<SqliteStore> {
    const isPath = typeof path === 'string' && path !== '';
    checkArgument(OPEN, isPath, path === '' ? undefined : path, 'the path of a file');
    checkSqliteOptions(options);
    const database = `The SQLite file ${path}`;
    const handle = await openHandle(path).catch((error: unknown) => {
      throw toIdempotencyError(error, database);
    });
    try {
      handle.exec(`PRAGMA busy_timeout = ${BUSY_WAIT_MS}`);
      const store = new SqliteStore(handle, options, database);
      await store.migrate();
      store.#ownsHandle = true;
      return store;
    } catch (error) {
      handle.close();
      throw error;
    }
  }

  /**
   * A store on a handle that is open already, of node:sqlite or better-sqlite3 12 or 13. Touches
   * nothing yet; the first call sets WAL mode and `synchronous=FULL` on the handle. The handle
   * stays its owner's: `close` does not close it. `name` is what errors call the database.
   *
   * @throws {IdempotencyError} `option_invalid`.
   */
  constructor(
    handle: SqliteHandle,
    options: SqliteStoreOptions = {},
    name: string = 'The SQLite database',
  ) {
    const isHandle = typeof handle?.prepare === 'function' && typeof handle.exec === 'function';
    checkArgument(SQLITE_STORE, isHandle, handle, A_HANDLE);
    checkSqliteOptions(options);
    const table = options.table ?? DEFAULT_TABLE;
    this.#handle = handle;
    this.#retention = withRetentionDefaults(options);
    this.#session = new SqliteSession(new SqliteConnection(handle), table, name);
    this.#records = new SqliteRecords(this.#session.connection, quoted(table));
    this.#writer = new GroupCommit(this.#session);
  }

  /**
   * Makes the tables, or brings them to the version that this package knows. Safe when many
   * processes do it at once, and when it was done before. Tables are made by no other call.
   *
   * @throws {IdempotencyError} as {@link SqliteStore.open} does.
   */
  async migrate(): Promise<void> {
    this.#refuseWhenClosed();
    await this.#session.migrate(this.#retention.now());
  }

  async claim(key: string, fingerprint: string, context: Attempt, call: StoreCall): Promise<Claim> {
    this.#refuseWhenClosed();
    const id = recordKeyDigest(key);
    const { now } = this.#retention;
    const { claim } = this.#records;
    const found = this.#session.tryRead(() => claim.look(id, fingerprint, context.owner, now()));
    if (found !== undefined) return found;
    const reserve = () => claim.reserve(id, fingerprint, context, now());
    return this.#writer.write(reserve, call.timeoutMs);
  }

  async complete(
    key: string,
    response: SavedResponse,
    context: Attempt,
    call: StoreCall,
  ): Promise<void> {
    this.#refuseWhenClosed();
    const id = recordKeyDigest(key);
    const { owner } = context;
    const encoded = encodeResponse(response);
    return this.#writer.write(() => {
      this.#records.complete.write(id, owner, encoded, completionTimes(this.#retention));
    }, call.timeoutMs);
  }

  /** As the capability says; `tx` is the store's own handle. What the lock costs, all wait for. */
  commitSync(
    key: string,
    { owner }: Attempt,
    write: (tx: SqliteHandle) => SavedResponse,
  ): SavedResponse {
    this.#refuseWhenClosed();
    const commit = new CommitSync(this.#session, this.#records, this.#retention);
    return commit.run(recordKeyDigest(key), owner, this.#handle, write);
  }

  async release(key: string, context: Attempt, call: StoreCall): Promise<void> {
    this.#refuseWhenClosed();
    const id = recordKeyDigest(key);
    const { owner } = context;
    return this.#writer.write(() => {
      this.#records.release.write(id, owner, this.#retention.now());
    }, call.timeoutMs);
  }

  async inspect(key: string): Promise<RecordView | undefined> {
    this.#refuseWhenClosed();
    const id = recordKeyDigest(key);
    return this.#session.read(() => this.#records.inspect.look(id, this.#retention.now()));
  }

  async list(options: ListOptions = {}): Promise<RecordPage> {
    this.#refuseWhenClosed();
    return this.#session.read(() => this.#records.list.look(options, this.#retention.now()));
  }

  async renew(key: string, leaseMs: number, context: Attempt, call: StoreCall): Promise<void> {
    this.#refuseWhenClosed();
    const id = recordKeyDigest(key);
    const { owner } = context;
    return this.#writer.write(() => {
      this.#records.lease.renew(id, owner, this.#retention.now() + leaseMs);
    }, call.timeoutMs);
  }

  async takeOver(
    key: string,
    fingerprint: string,
    context: Attempt,
    options: TakeOverOptions,
    call: StoreCall,
  ): Promise<TakeOver> {
    this.#refuseWhenClosed();
    const id = recordKeyDigest(key);
    return this.#writer.write(() => {
      const nowMs = this.#retention.now();
      return this.#records.lease.takeOver(id, fingerprint, context, options, nowMs);
    }, call.timeoutMs);
  }

  async settle(
    key: string,
    settlement: Settlement,
    { by, reason }: SettlementNote,
    { force = false }: { readonly force?: boolean } = {},
    call?: StoreCall,
  ): Promise<SettleAnswer> {
    this.#refuseWhenClosed();
    const id = recordKeyDigest(key);
    const { kind } = settlement;
    const response = kind === 'never-started' ? undefined : encodeResponse(settlement.response);
    const request = { kind, by, reason, force, response };
    return this.#writer.write(
      () => this.#records.settle.write(id, request, completionTimes(this.#retention)),
      call?.timeoutMs ?? OPERATOR_TIMEOUT_MS,
    );
  }

  /** One batch a call, each in one transaction. `limit` is 1,000 unless given. */
  async prune(
    options: { readonly limit?: number; readonly signal?: AbortSignal } = {},
  ): Promise<number> {
    this.#refuseWhenClosed();
    const { limit = PRUNE_LIMIT, signal } = options;
    if (signal?.aborted) return 0;
    const prune = () => this.#records.prune.write(this.#retention.now(), limit);
    return this.#writer.write(prune, OPERATOR_TIMEOUT_MS);
  }

  /** Prunes in the background until it is stopped; see `startPruning`. Stop it before `close`. */
  startPruning(options: PruningOptions = {}): Pruning {
    return startPruning(this, options);
  }

  /** Reads the settings that decide what is left after a power cut, and says what they mean. */
  async check(): Promise<SqliteDurability> {
    this.#refuseWhenClosed();
    return this.#session.durability();
  }

  /**
   * Waits for the calls that were made before, then closes the handle if `open` opened it. Later
   * calls reject with `store_closed`; a second `close` waits for the first.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.#writer.drain();
    if (this.#ownsHandle) this.#handle.close();
  }

  #refuseWhenClosed(): void {
    if (this.#closing === undefined) return;
    throw new IdempotencyError(
      'store_closed',
      'The store was closed. Close it after the server has answered its last request.',
    );
  }
}

const OPEN = { ...SQLITE_STORE, name: 'SqliteStore.open(…)' };
const A_HANDLE =
  'an open handle of node:sqlite or better-sqlite3 (for a path: `await SqliteStore.open(path)`)';
const PRUNE_LIMIT = 1_000;
const OPERATOR_TIMEOUT_MS = 10_000;

type RecordPage = Awaited<ReturnType<ListCapability['list']>>;
