import mysql from 'mysql2';
import promised from 'mysql2/promise';
import { MySqlStore, type MySqlStoreOptions } from '../../../src/stores/mysql/index.ts';

const ADDRESS = { host: '127.0.0.1', port: 1 };

/** Clients that connect to nothing, for as long as nobody asks them to. */
function setup() {
  const withCallbacks = mysql.createPool(ADDRESS);
  return {
    withCallbacks,
    pool: withCallbacks.promise(),
    cluster: promised.createPoolCluster(),
    end: () => withCallbacks.end(),
  };
}

test('a client that cannot be used is refused when the store is built', () => {
  const { withCallbacks, cluster, end } = setup();
  const connection = { query() {}, execute() {} };
  const unusable: readonly (readonly [unknown, string])[] = [
    [undefined, 'got undefined'],
    [null, 'to be a promise pool'],
    [{}, 'got object'],
    ['mysql://localhost', 'got a string'],
    [connection, 'got one connection'],
    [withCallbacks, 'give pool.promise()'],
    [cluster, 'give the pool of the primary'],
  ];
  for (const [client, said] of unusable) {
    expect(() => new MySqlStore({ client } as unknown as MySqlStoreOptions)).toThrow(said);
  }
  end();
});

test.each([
  [{ prepare: 'no' }, 'option `prepare` of MySqlStore to be true or false'],
  [{ seal: {} }, 'option `seal` of MySqlStore to be an object with the functions seal and open'],
  [{ acceptDataLoss: 1 }, 'option `acceptDataLoss` of MySqlStore to be true or false'],
  [{ resultRetentionMs: 0 }, 'option `resultRetentionMs` of MySqlStore to be a whole number'],
  [{ tabel: 'a' }, 'got `tabel`. Did you mean `table`? Known are '],
])('the options %j are refused', (options, said) => {
  const { pool, end } = setup();
  const all = { client: pool, ...options } as unknown as MySqlStoreOptions;
  expect(() => new MySqlStore(all)).toThrow(said);
  end();
});
