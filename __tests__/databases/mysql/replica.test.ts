import { setTimeout as delay } from 'node:timers/promises';
import { MySqlStore } from '../../../src/stores/mysql/index.ts';
import { callsOf, failureOf } from '../calls.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { FaultyProxy } from '../servers/proxy.ts';

/** A primary and its replica, which is fed through a proxy. */
async function setup() {
  const settings = { 'log-bin': 'binlog', 'sync-binlog': '1', 'server-id': '1' };
  const primary = await MariaDbServer.start(settings);
  const link = await FaultyProxy.start(primary);
  const onPrimary = new MySqlStore({ client: primary.pool() });
  await onPrimary.migrate();
  const replica = await MariaDbServer.replicaOf(primary, link.port);
  const onReplica = new MySqlStore({ client: replica.pool() });
  const stop = async () => {
    await replica.stop();
    await link.stop();
    await primary.stop();
  };
  return { primary, replica, link, onPrimary, onReplica, stop };
}

/** Waits until the replica knows the record, as its table shows and the store does not. */
async function untilReplicated(replica: MariaDbServer, owner: string): Promise<void> {
  const text = 'select 1 from shop.idempotency_records where owner = ?';
  const isThere = () =>
    replica.query(text, [owner]).then(
      (rows) => rows.length > 0,
      () => false,
    );
  while (!(await isThere())) await delay(50);
}

test('a read-only replica is refused, and never read as the truth', async () => {
  const { replica, onPrimary, onReplica, stop } = await setup();
  const primary = callsOf(onPrimary);
  await primary.claim('A');
  await primary.complete('A');
  await untilReplicated(replica, 'A');
  const { claim, complete, release } = callsOf(onReplica);
  const calls = [
    claim('B'),
    claim('B', undefined, 'another key'),
    complete('A'),
    release('A'),
    onReplica.inspect('k'),
    onReplica.inspect('another key'),
    onReplica.check(),
  ];
  for (const call of calls) expect((await failureOf(call)).code).toBe('store_read_only');
  await stop();
});

test('a failover to an asynchronous replica forgets what had not reached it', async () => {
  const { primary, replica, link, onPrimary, onReplica, stop } = await setup();
  const before = callsOf(onPrimary);
  await before.claim('A', undefined, 'replicated');
  await untilReplicated(replica, 'A');
  link.mode = 'hole';
  expect((await before.claim('B')).kind).toBe('new');
  await primary.kill();
  await replica.promote();
  const after = callsOf(onReplica);
  expect((await after.claim('C', undefined, 'replicated')).kind).toBe('pending');
  expect((await after.claim('C')).kind).toBe('new');
  await stop();
});

test('with semi-synchronous replication what no replica has is not acknowledged', async () => {
  const { primary, replica, link, onPrimary, stop } = await setup();
  const { claim } = callsOf(onPrimary);
  await claim('A');
  await untilReplicated(replica, 'A');
  await primary.query('set global rpl_semi_sync_master_timeout = 60000');
  await primary.query('set global rpl_semi_sync_master_enabled = 1');
  // A replica says that it takes part when it connects.
  await replica.query('stop slave');
  await replica.query('start slave');
  const takesPart = async () => {
    const [row] = await primary.query("show global status like 'Rpl_semi_sync_master_clients'");
    return row?.['Value'] === '1';
  };
  while (!(await takesPart())) await delay(50);
  expect((await onPrimary.check()).semiSync).toBe(true);
  expect((await claim('B', undefined, 'reached')).kind).toBe('new');
  link.mode = 'hole';
  const { code } = await failureOf(claim('C', 1_500, 'not reached'));
  expect(code).toBe('store_timeout');
  await stop();
});
