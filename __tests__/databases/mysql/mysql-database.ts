import type { Pool, ResultSetHeader } from 'mysql2/promise';
import { recordKeyDigest } from '../../../src/core/record-key.ts';
import { type MySqlPool, MySqlStore } from '../../../src/stores/mysql/index.ts';
import type { SettableClock } from '../../../src/testing/index.ts';
import type { ContractDatabase } from '../../contract/describe-contract.ts';
import { ContractAccess } from '../sql/contract-access.ts';

export class MySqlAccess extends ContractAccess<Pool, MySqlPool> {}

let tables = 0;

/** An empty table; every store has a pool of its own. */
export async function mysqlDatabase(
  access: MySqlAccess,
  clock: SettableClock,
): Promise<ContractDatabase> {
  const { pool, prepare } = access;
  tables += 1;
  const table = `contract_${process.pid}_${tables}`;
  let stores = 0;
  const makeStore = async () => {
    const client = access.clientOf(stores++);
    const store = new MySqlStore({ client, table, prepare, now: clock.now });
    await store.migrate();
    return store;
  };
  const overwriteSaved = async (key: string, head: string, body: Uint8Array) => {
    const text = `update ${table} set response_head = ?, response_body = ?
      where id = ? and state = 1`;
    const values = [Buffer.from(head), Buffer.from(body), recordKeyDigest(key)];
    const [{ info }] = await pool.query<ResultSetHeader>(text, values);
    if (!info.startsWith('Rows matched: 1 ')) {
      throw new Error('There is no completed record to overwrite.');
    }
  };
  return {
    makeStore: Object.assign(makeStore, { overwriteSaved }),
    close: async () => {
      await pool.query(`drop table if exists ${table}, ${table}_migrations`);
    },
  };
}
