import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordKeyDigest } from '../../src/core/record-key.ts';
import { type SqliteHandle, SqliteStore } from '../../src/stores/sqlite/index.ts';
import type { SettableClock } from '../../src/testing/index.ts';
import type { ContractDatabase } from './describe-contract.ts';

/** Opens a file with one driver, as its user would. */
export type OpenSqlite = (path: string) => SqliteHandle;

/** node:sqlite, which Node 20 does not have. */
export const NODE_SQLITE = process.getBuiltinModule('node:sqlite');

/** An empty directory for the files of one test, and its end. */
export function temporaryDirectory(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'express-idempotent-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A database in a file of its own; every store has a handle of its own. */
export async function sqliteDatabase(
  openHandle: OpenSqlite,
  clock: SettableClock,
): Promise<ContractDatabase> {
  const directory = temporaryDirectory();
  const path = join(directory.path, 'records.db');
  const handles: SqliteHandle[] = [];
  const makeStore = async () => {
    const handle = openHandle(path);
    handles.push(handle);
    const store = new SqliteStore(handle, { now: clock.now });
    await store.migrate();
    return store;
  };
  const overwriteSaved = async (key: string, head: string, body: Uint8Array) => {
    const handle = openHandle(path);
    const sql = 'UPDATE idempotency_records SET head = ?, body = ? WHERE id = ? AND state = 1';
    const values: unknown[] = [head, body, recordKeyDigest(key)];
    const { changes } = handle.prepare(sql).run(...(values as never[]));
    handle.close();
    if (Number(changes) !== 1) throw new Error('There is no completed record to overwrite.');
  };
  return {
    makeStore: Object.assign(makeStore, { overwriteSaved }),
    close: async () => {
      for (const handle of handles) handle.close();
      directory.remove();
    },
  };
}
