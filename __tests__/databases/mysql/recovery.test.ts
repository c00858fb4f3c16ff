import { MySqlStore, type MySqlTransaction } from '../../../src/stores/mysql/index.ts';
import { attemptOf, within } from '../calls.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { describeCompletions, type InTransaction } from '../sql/describe-completions.ts';
import { describeLeases, describeTakeovers } from '../sql/describe-leases.ts';
import { describeSettling } from '../sql/describe-settling.ts';
import { setup } from '../sql/recovery-scene.ts';
import { serverForAll } from '../sql/sql-database.ts';
import { mariaDbDialect } from './start-mariadb.ts';

let server: MariaDbServer;

const database = serverForAll(async () => {
  server = await MariaDbServer.start();
  return mariaDbDialect(server);
});

function under(isolation: string): InTransaction {
  return async (write: (tx: MySqlTransaction) => Promise<unknown>) => {
    const connection = await server.pool().getConnection();
    try {
      await connection.query(`set transaction isolation level ${isolation}`);
      await connection.beginTransaction();
      await connection.query("insert into labels values ('made')");
      await write(connection);
      await connection.commit();
    } catch (error) {
      await connection.rollback();
      throw error;
    } finally {
      connection.release();
    }
  };
}

const ISOLATIONS = ['READ UNCOMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'];

describeLeases(database);
describeTakeovers(database);
describeSettling(database);
describeCompletions(
  database,
  Object.fromEntries(ISOLATIONS.map((isolation) => [isolation, under(isolation)])),
);

test('a word that is said twice within a millisecond is taken both times', async () => {
  const { clock, claim, takeOver } = await setup(database());
  const note = { reason: 'seen at the carrier', by: 'operator 7' };
  await claim('A');
  clock.advance(1_000);
  await takeOver('B');
  clock.advance(1_000);
  const client = server.pool({ flags: ['-FOUND_ROWS'] });
  const counting = new MySqlStore({ client, now: clock.now });
  for (let n = 0; n < 2; n += 1) {
    expect(await counting.settle('k', { kind: 'never-started' }, note)).toBe('settled');
  }
  for (let n = 0; n < 2; n += 1) await counting.renew('k', 1_000, attemptOf('B'), within());
  expect(await counting.settle('k', { kind: 'never-started' }, note)).toBe('lease-holds');
});
