import type { Pool } from 'pg';
import { recordKeyDigest } from '../../../src/core/record-key.ts';
import { type PostgresClient, PostgresStore } from '../../../src/stores/postgres/index.ts';
import type { SettableClock } from '../../../src/testing/index.ts';
import type { ContractDatabase } from '../../contract/describe-contract.ts';

/** How the stores of a contract reach one server. */
export interface PostgresAccess {
  /** A client of its own for each store. */
  readonly newClient: () => PostgresClient;
  /** For what the contract does past the stores. */
  readonly pool: Pool;
  readonly prepare?: boolean;
}

let tables = 0;

/** An empty table; every store has a client of its own. */
export async function postgresDatabase(
  { newClient, pool, prepare = true }: PostgresAccess,
  clock: SettableClock,
): Promise<ContractDatabase> {
  tables += 1;
  const table = `records_${tables}`;
  const makeStore = async () => {
    const store = new PostgresStore({ client: newClient(), table, prepare, now: clock.now });
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
