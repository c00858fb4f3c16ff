import { FencedError } from '../../core/errors.ts';
import type { TakeOver, TakeOverOptions } from '../../core/recovery-capabilities.ts';
import type { Attempt } from '../../core/store.ts';
import type { SqliteConnection } from './handle.ts';
import { isLeaseOver, PENDING } from './record-row.ts';

const read = (table: string) =>
  `SELECT fingerprint, state, owner, attempt, created_at, lease_until FROM ${table} WHERE id = ?`;

/** Fences the owner out that was seen, and no other. `created_at` stays: it is the first claim. */
const takeOver = (table: string) =>
  `UPDATE ${table} SET owner = ?, attempt = attempt + 1, lease_until = ?
    WHERE id = ? AND owner = ? AND state = ${PENDING}`;

/** Compares the owner and nothing else: a renewal whose reply was lost may come again. */
const renew = (table: string) =>
  `UPDATE ${table} SET lease_until = ? WHERE id = ? AND owner = ? AND state = ${PENDING}`;

/** What is done with leases. Each within a transaction that holds the write lock. */
export class LeaseVerb {
  readonly #connection: SqliteConnection;
  readonly #read: string;
  readonly #takeOver: string;
  readonly #renew: string;

  constructor(connection: SqliteConnection, table: string) {
    this.#connection = connection;
    this.#read = read(table);
    this.#takeOver = takeOver(table);
    this.#renew = renew(table);
  }

  takeOver(
    id: Buffer,
    fingerprint: string,
    { owner, leaseMs }: Attempt,
    { withinMs }: TakeOverOptions,
    nowMs: number,
  ): TakeOver {
    const row = this.#connection.get(this.#read, id);
    const isPending = row?.['state'] === PENDING && row['fingerprint'] === fingerprint;
    if (!isPending) return { kind: 'not-taken' };
    const attempt = Number(row['attempt']);
    // Sent again, its first reply was lost.
    if (row['owner'] === owner) return { kind: 'taken', attempt };
    if (!isLeaseOver(row, nowMs)) return { kind: 'not-taken' };
    if (withinMs !== undefined && nowMs > Number(row['created_at']) + withinMs) {
      return { kind: 'too-late' };
    }
    const leaseUntil = leaseMs === undefined ? null : nowMs + leaseMs;
    this.#connection.run(this.#takeOver, owner, leaseUntil, id, row['owner'] ?? null);
    return { kind: 'taken', attempt: attempt + 1 };
  }

  /** @throws {FencedError} the record is absent, completed or another owner's. */
  renew(id: Buffer, owner: string, leaseUntilMs: number): void {
    if (this.#connection.run(this.#renew, leaseUntilMs, id, owner) === 0) throw new FencedError();
  }
}
