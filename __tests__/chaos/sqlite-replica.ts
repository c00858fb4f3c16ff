import { type RunningAttempt, transactional } from '../../src/index.ts';
import { type SqliteHandle, SqliteStore } from '../../src/stores/sqlite/index.ts';
import { sqliteDriver } from '../contract/sqlite/driver.ts';
import type { Interruption } from './interruption.ts';
import { overriding } from './naive-store.ts';
import { type Backend, type ReplicaTask, serveReplica } from './replica-program.ts';

export interface SqliteReplicaTask extends ReplicaTask {
  readonly path: string;
}

/** A store and a business table in one file, on one handle. */
async function openSqlite(task: SqliteReplicaTask, interruption: Interruption): Promise<Backend> {
  const driver = sqliteDriver('node:sqlite') ?? sqliteDriver('better-sqlite3-12');
  if (driver === undefined) throw new Error('There is no driver of SQLite here.');
  const { leaseMs, naivety, path } = task;
  const raw = driver.open(path);
  const committing = new Committing(interruption);
  const handle = committing.around(raw);
  const store = new SqliteStore(handle);
  await store.migrate();
  raw.exec('CREATE TABLE IF NOT EXISTS effects (key TEXT, attempt INTEGER)');
  const limits = { statementTimeoutMs: 100, lockTimeoutMs: 100, idleTimeoutMs: 100 };
  const insert = raw.prepare('INSERT INTO effects VALUES (?, ?)');
  const select = raw.prepare('SELECT attempt FROM effects WHERE key = ? ORDER BY rowid');
  return {
    store: naivety === 'completes for anybody' ? completing(store, raw) : store,
    transactional: {
      recovery: transactional(undefined, { leaseMs, limits }),
      handle(attempt: RunningAttempt, words) {
        attempt.commitSync(() => {
          committing.isOn = true;
          interruption.reach('after begin');
          insert.run(...([attempt.key, attempt.attempt] as never[]));
          interruption.reach('effect');
          return words;
        });
      },
      effectsOf: (key) => select.all(key as never).map((row) => (row as Row).attempt),
    },
  };
}

interface Row {
  readonly attempt: number;
}

/** The points around the COMMIT of a handler, which are within one call of the store. */
class Committing {
  isOn = false;
  readonly #interruption: Interruption;

  constructor(interruption: Interruption) {
    this.#interruption = interruption;
  }

  around(raw: SqliteHandle): SqliteHandle {
    return new Proxy(raw, {
      get: (handle, name) => {
        if (name === 'prepare') return (sql: string) => this.#prepared(handle, sql);
        const value: unknown = Reflect.get(handle, name, handle);
        return typeof value === 'function' ? value.bind(handle) : value;
      },
    });
  }

  #prepared(handle: SqliteHandle, sql: string) {
    const statement = handle.prepare(sql);
    if (sql !== 'COMMIT') return statement;
    const run = () => {
      const isHandlers = this.isOn;
      this.isOn = false;
      if (isHandlers) this.#interruption.reach('after completeIn');
      const changes = statement.run();
      if (!isHandlers) return changes;
      this.#interruption.reach('after commit');
      if (this.#interruption.loses('commit')) throw new Error('The reply was lost.');
      return changes;
    };
    return { run };
  }
}

/** "It has its answer, so it may commit": whoever owns the record by now. */
function completing(store: SqliteStore, raw: SqliteHandle) {
  return overriding(store, {
    commitSync(...[key, context, write]: Parameters<SqliteStore['commitSync']>) {
      try {
        return store.commitSync(key, context, write);
      } catch {
        raw.exec('BEGIN IMMEDIATE');
        const response = write(raw);
        raw.exec('COMMIT');
        return response;
      }
    },
  });
}

void serveReplica(openSqlite);
