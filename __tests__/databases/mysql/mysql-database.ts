import type { Pool, ResultSetHeader } from 'mysql2/promise';
import { recordKeyDigest } from '../../../src/core/record-key.ts';
import { type MySqlPool, MySqlStore } from '../../../src/stores/mysql/index.ts';
import type { SettableClock } from '../../../src/testing/index.ts';
import type { ContractDatabase } from '../../contract/describe-contract.ts';

/** How the stores of a contract reach one server. */
export interface MySqlAccess {
  /** A pool of its own for each store; it is ended after the case. */
  readonly newPool: () => MySqlPool & { end(): Promise<void> };
  /** What stands between the store and its pool. */
  readonly wrap?: (pool: MySqlPool) => MySqlPool;
  /** For what the contract does past the stores. */
  readonly pool: Pool;
  readonly prepare?: boolean;
}

let tables = 0;

/** An empty table; every store has a pool of its own. */
export async function mysqlDatabase(
  { newPool, wrap = (pool) => pool, pool, prepare = true }: MySqlAccess,
  clock: SettableClock,
): Promise<ContractDatabase> {
  tables += 1;
  const table = `contract_${process.pid}_${tables}`;
  const pools: { end(): Promise<void> }[] = [];
  const makeStore = async () => {
    const own = newPool();
    pools.push(own);
    const store = new MySqlStore({ client: wrap(own), table, prepare, now: clock.now });
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
      await Promise.all(pools.map((each) => each.end()));
      await pool.query(`drop table if exists ${table}, ${table}_migrations`);
    },
  };
}
