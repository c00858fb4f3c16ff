import { setTimeout as delay } from 'node:timers/promises';
import { PostgresStore } from '../../../src/stores/postgres/index.ts';
import { callsOf, failureOf } from '../calls.ts';
import { PostgresServer } from '../servers/postgres.ts';
import { FaultyProxy } from '../servers/proxy.ts';

/** A primary and its hot standby, which is fed through a proxy. */
async function setup() {
  const primary = await PostgresServer.start({ wal_level: 'replica', max_wal_senders: '5' });
  const link = await FaultyProxy.start(primary);
  const onPrimary = new PostgresStore({ client: primary.pool() });
  await onPrimary.migrate();
  const standby = await PostgresServer.standbyOf(primary, link.port);
  const onStandby = new PostgresStore({ client: standby.pool() });
  const stop = async () => {
    await standby.stop();
    await link.stop();
    await primary.stop();
  };
  return { primary, standby, link, onPrimary, onStandby, stop };
}

/** Waits until the standby knows the record, as its table shows and the store does not. */
async function untilReplicated(standby: PostgresServer, owner: string): Promise<void> {
  const text = 'select from idempotency_records where owner = $1';
  while ((await standby.query(text, [owner])).length === 0) await delay(50);
}

test('a read-only standby is refused, and never read as the truth', async () => {
  const { standby, onPrimary, onStandby, stop } = await setup();
  const primary = callsOf(onPrimary);
  await primary.claim('A');
  await primary.complete('A');
  await untilReplicated(standby, 'A');
  const { claim, complete, release } = callsOf(onStandby);
  const calls = [
    claim('B'),
    claim('B', undefined, 'another key'),
    complete('A'),
    release('A'),
    onStandby.inspect('k'),
    onStandby.check(),
  ];
  for (const call of calls) expect((await failureOf(call)).code).toBe('store_read_only');
  await stop();
});

test('a failover to an asynchronous standby forgets what had not reached it', async () => {
  const { primary, standby, link, onPrimary, onStandby, stop } = await setup();
  const before = callsOf(onPrimary);
  await before.claim('A', undefined, 'replicated');
  await untilReplicated(standby, 'A');
  link.mode = 'hole';
  expect((await before.claim('B')).kind).toBe('new');
  await primary.kill();
  await standby.promote();
  const after = callsOf(onStandby);
  expect((await after.claim('C', undefined, 'replicated')).kind).toBe('pending');
  expect((await after.claim('C')).kind).toBe('new');
  await stop();
});

test('with a synchronous standby a claim that did not reach it is not acknowledged', async () => {
  const { primary, standby, link, onPrimary, stop } = await setup();
  const { claim } = callsOf(onPrimary);
  await claim('A');
  await untilReplicated(standby, 'A');
  await primary.query("alter system set synchronous_standby_names = '*'");
  await primary.query('select pg_reload_conf()');
  await delay(500);
  expect((await claim('B', undefined, 'reached')).kind).toBe('new');
  expect((await onPrimary.check()).sentences.join(' ')).toContain('every synchronous standby');
  link.mode = 'hole';
  const { code } = await failureOf(claim('C', 1_000, 'not reached'));
  expect(code).toBe('store_timeout');
  await stop();
});
