import { RedisStore } from '../../../src/stores/redis/index.ts';
import { RedisCluster } from '../servers/redis-cluster.ts';
import { callsOf, keysOf } from './calls.ts';

let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await RedisCluster.start();
});
afterAll(() => cluster.stop());

async function setup(driver: 'ioredis' | 'node-redis') {
  for (const primary of cluster.primaries) await primary.flushall();
  const client = driver === 'ioredis' ? cluster.ioredis() : await cluster.nodeRedis();
  const store = new RedisStore({ client });
  return { store, ...callsOf(store) };
}

/** The slot of a key, the primary that has it and the next one. */
async function slotOf(key: string) {
  const { state } = keysOf(key);
  const [first] = cluster.primaries;
  if (first === undefined) throw new Error('There is no node.');
  const slot = await first.cluster('KEYSLOT', state);
  // A node that does not have the slot answers MOVED.
  const owns = await Promise.all(
    cluster.primaries.map((primary) =>
      primary.exists(state).then(
        () => true,
        () => false,
      ),
    ),
  );
  const from = owns.indexOf(true);
  const to = (from + 1) % cluster.primaries.length;
  const [source, target] = [cluster.primaries[from], cluster.primaries[to]];
  if (source === undefined || target === undefined) throw new Error('Nobody has the slot.');
  const [sourceId, targetId] = [await source.cluster('MYID'), await target.cluster('MYID')];
  return { slot, source, target, sourceId, targetId, targetPort: cluster.servers[to]?.port ?? 0 };
}

type Slot = Awaited<ReturnType<typeof slotOf>>;

async function beginMove({ slot, source, target, sourceId, targetId }: Slot): Promise<void> {
  await target.cluster('SETSLOT', slot, 'IMPORTING', sourceId);
  await source.cluster('SETSLOT', slot, 'MIGRATING', targetId);
}

async function moveKeys({ slot, source, targetPort }: Slot): Promise<void> {
  const keys = await source.cluster('GETKEYSINSLOT', slot, 100);
  if (keys.length > 0) {
    await source.migrate('127.0.0.1', targetPort, '', 0, 5_000, 'KEYS', ...keys.map(String));
  }
}

async function endMove({ slot, source, target, targetId }: Slot): Promise<void> {
  for (const node of [target, source, ...cluster.primaries]) {
    await node.cluster('SETSLOT', slot, 'NODE', targetId);
  }
}

describe.each(['ioredis', 'node-redis'] as const)('on %s', (driver) => {
  test('records lie on all nodes, and list shows those of all', async () => {
    const { store, claim } = await setup(driver);
    const keys = Array.from({ length: 60 }, (_, n) => `key ${n}`);
    await Promise.all(keys.map((key) => claim('A', { key })));
    const sizes = await Promise.all(cluster.primaries.map((primary) => primary.dbsize()));
    expect(sizes.filter((size) => size > 0)).toHaveLength(3);
    const listed: string[] = [];
    let after: string | undefined;
    do {
      const page = await store.list({ limit: 7, ...(after === undefined ? {} : { after }) });
      listed.push(...page.records.map(({ key }) => key));
      after = page.after;
    } while (after !== undefined);
    expect(listed.sort()).toEqual([...keys].sort());
  });

  test('a record is found after its slot has moved to another node', async () => {
    const { claim, complete } = await setup(driver);
    await claim('A', { key: 'moves' });
    await claim('A', { key: 'other' });
    const move = await slotOf('moves');
    await beginMove(move);
    await moveKeys(move);
    await endMove(move);
    expect(await claim('B', { key: 'moves' })).toMatchObject({ kind: 'pending' });
    await complete('A', { key: 'moves' });
    expect((await claim('B', { key: 'moves' })).kind).toBe('replay');
  });

  test('while its slot moves a record is answered rightly or not at all', async () => {
    const { claim, complete } = await setup(driver);
    const key = 'halfway';
    await claim('A', { key });
    await complete('A', { key });
    const move = await slotOf(key);
    await beginMove(move);
    const { state } = keysOf(key);
    // The state has gone ahead, and the body is still where it was.
    await move.source.migrate('127.0.0.1', move.targetPort, state, 0, 5_000);
    const halfway = await claim('B', { key, timeoutMs: 1_500 }).catch(({ code }) => code);
    expect(['store_failed', 'store_timeout']).toContain(halfway);
    await moveKeys(move);
    expect((await claim('B', { key })).kind).toBe('replay');
    await endMove(move);
    expect((await claim('B', { key })).kind).toBe('replay');
  });
});
