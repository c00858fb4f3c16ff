import type { Pool } from 'pg';
import { recordKeyDigest } from '../../../src/core/record-key.ts';
import { type PostgresClient, PostgresStore } from '../../../src/stores/postgres/index.ts';
import type { SettableClock } from '../../../src/testing/index.ts';
import type { ContractDatabase } from '../../contract/describe-contract.ts';
import { ContractAccess } from '../sql/contract-access.ts';

export class PostgresAccess extends ContractAccess<Pool, PostgresClient> {}

let tables = 0;

/** An empty table; every store has a client of its own. */
export async function postgresDatabase(
  access: PostgresAccess,
  clock: SettableClock,
): Promise<ContractDatabase> {
  const { pool, prepare } = access;
  tables += 1;
  const table = `records_${tables}`;
  let stores = 0;
  const makeStore = async () => {
    const client = access.clientOf(stores++);
    const store = new PostgresStore({ client, table, prepare, now: clock.now });
    await store.migrate();
    return store;
  };
  const overwriteSaved = async (key: string, head: string, body: Uint8Array) => {
    const text = `update ${table} set head = $1, body = $2 where id = $3 and state = 1`;
    const { rowCount } = await pool.query(text, [head, body, recordKeyDigest(key)]);
    if (rowCount !== 1) throw new Error('There is no completed record to overwrite.');
  };
  return {
    makeStore: Object.assign(makeStore, { overwriteSaved }),
    close: async () => {
      await pool.query(`drop table if exists ${table}, ${table}_migrations`);
    },
  };
}
