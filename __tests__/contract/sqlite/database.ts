import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordKeyDigest } from '../../../src/core/record-key.ts';
import { type SqliteHandle, SqliteStore } from '../../../src/stores/sqlite/index.ts';
import type { SettableClock } from '../../../src/testing/index.ts';
import type { ContractDatabase } from '../describe-contract.ts';
import type { SqliteDriver } from './driver.ts';

/** An empty directory for the files of one test, and its end. */
export class TemporaryDirectory {
  readonly path: string = mkdtempSync(join(tmpdir(), 'express-idempotent-'));

  file(name: string): string {
    return join(this.path, name);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** A database in a file of its own; every store has a handle of its own. */
export async function contractDatabase(
  driver: SqliteDriver,
  clock: SettableClock,
): Promise<ContractDatabase> {
  const directory = new TemporaryDirectory();
  const path = directory.file('records.db');
  const handles: SqliteHandle[] = [];
  const makeStore = async () => {
    const handle = driver.open(path);
    handles.push(handle);
    const store = new SqliteStore(handle, { now: clock.now });
    await store.migrate();
    return store;
  };
  const overwriteSaved = async (key: string, head: string, body: Uint8Array) => {
    const handle = driver.open(path);
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
