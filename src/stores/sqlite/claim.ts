import type { Attempt, Claim } from '../../core/store.ts';
import type { SqliteConnection, SqliteRow } from './handle.ts';
import { isForgotten, isLeaseOver, PENDING, responseOf, stateOf } from './record-row.ts';

/** Alone in its statement, and enough for every answer but `new`: no write lock, no fsync. */
const read = (table: string) =>
  `SELECT fingerprint, state, owner, attempt, lease_until, head, body, expires_at, forget_at
     FROM ${table} WHERE id = ?`;

/**
 * Changes one row, or none when a record is there. A row whose tombstone has ended counts as
 * absent, whether it was pruned or not; a pending one has no `forget_at` and never does.
 */
const reserve = (table: string) =>
  `INSERT INTO ${table} (id, tenant, operation, idempotency_key, fingerprint, owner, attempt,
                         state, created_at, lease_until)
   VALUES (?, ?, ?, ?, ?, ?, 1, ${PENDING}, ?, ?)
   ON CONFLICT (id) DO UPDATE
      SET tenant = excluded.tenant, operation = excluded.operation,
          idempotency_key = excluded.idempotency_key, fingerprint = excluded.fingerprint,
          owner = excluded.owner, attempt = 1, state = ${PENDING}, head = NULL, body = NULL,
          created_at = excluded.created_at, lease_until = excluded.lease_until,
          completed_at = NULL, expires_at = NULL, forget_at = NULL, settlement = NULL
    WHERE state <> ${PENDING} AND forget_at <= excluded.created_at`;

/** `claim` in two halves: what a look tells, and the reservation when the look found nothing. */
export class ClaimVerb {
  readonly #connection: SqliteConnection;
  readonly #read: string;
  readonly #reserve: string;

  constructor(connection: SqliteConnection, table: string) {
    this.#connection = connection;
    this.#read = read(table);
    this.#reserve = reserve(table);
  }

  /** The answer, or `undefined` when there is no record. */
  look(id: Buffer, fingerprint: string, owner: string, nowMs: number): Claim | undefined {
    const row = this.#connection.get(this.#read, id);
    if (row === undefined || isForgotten(row, nowMs)) return undefined;
    if (row['fingerprint'] !== fingerprint) return { kind: 'conflict' };
    return answerOf(row, owner, nowMs);
  }

  /** Within a transaction that holds the write lock. */
  reserve(id: Buffer, fingerprint: string, context: Attempt, nowMs: number): Claim {
    const { owner, key, tenant, operation, leaseMs } = context;
    const changes = this.#connection.run(
      this.#reserve,
      id,
      tenant ?? null,
      operation ?? null,
      key,
      fingerprint,
      owner,
      nowMs,
      leaseMs === undefined ? null : nowMs + leaseMs,
    );
    if (changes === 1) return { kind: 'new', attempt: 1 };
    const claim = this.look(id, fingerprint, owner, nowMs);
    if (claim === undefined) throw new Error('A record was neither there nor could be made.');
    return claim;
  }
}

function answerOf(row: SqliteRow, owner: string, nowMs: number): Claim {
  const state = stateOf(row, nowMs);
  switch (state) {
    case 'pending':
      if (row['owner'] === owner) return { kind: 'new', attempt: Number(row['attempt']) };
      if (row['lease_until'] === null) return { kind: 'pending' };
      return { kind: 'pending', leaseOver: isLeaseOver(row, nowMs) };
    case 'completed':
      return { kind: 'replay', response: responseOf(row) };
    case 'tombstone':
      return { kind: 'expired' };
    default:
      return state satisfies never;
  }
}
