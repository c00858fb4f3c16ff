import { setTimeout as delay } from 'node:timers/promises';
import { callsOf } from '../calls.ts';
import type { SqlDatabase } from './sql-database.ts';

/** How a server is started that keeps what it acknowledges, and one that does not. */
export interface CrashServers {
  readonly durable: () => Promise<SqlDatabase>;
  readonly forgetful: { readonly named: string; readonly start: () => Promise<SqlDatabase> };
}

/** What a store answers, and still has, when its server is killed and started again. */
export function describeCrash({ durable, forgetful }: CrashServers): void {
  test('no acknowledged claim or response is lost when the server is killed under load', async () => {
    expect(await lostInCrash(durable)).toBe(0);
  });

  test(`they are lost with ${forgetful.named}: the test before can fail`, async () => {
    expect(await lostInCrash(forgetful.start)).toBeGreaterThan(0);
  });

  test('a server that is killed between two calls of an attempt answers the second one', async () => {
    const { server, claim, complete } = await setup(durable);
    expect(await claim('A')).toEqual({ kind: 'new', attempt: 1 });
    await server.kill();
    await expect(complete('A', 500)).rejects.toThrow();
    await server.restart();
    await complete('A');
    expect((await claim('B')).kind).toBe('replay');
    await server.stop();
  });

  test('a killed server leaves no call unanswered, and later ones succeed', async () => {
    const { server, claim } = await setup(durable);
    const calls = Promise.allSettled(
      Array.from({ length: 64 }, (_, n) => claim(`A${n}`, 3_000, `key ${n}`)),
    );
    await server.kill();
    for (const { status } of await calls) expect(['fulfilled', 'rejected']).toContain(status);
    await server.restart();
    expect((await claim('B', 5_000, 'another key')).kind).toBe('new');
    await server.stop();
  });
}

/** A server of its own, which the test may kill, and a store on it. */
async function setup(start: () => Promise<SqlDatabase>) {
  const server = await start();
  const store = server.newStore();
  await store.migrate();
  return { server, store, ...callsOf(store) };
}

type Acknowledged = Map<string, 'claimed' | 'completed'>;

/** Kills the server under load, starts it again, and answers how much it has forgotten. */
async function lostInCrash(start: () => Promise<SqlDatabase>): Promise<number> {
  const { server, store, claim, complete } = await setup(start);
  const acknowledged: Acknowledged = new Map();
  const workers = Array.from({ length: 16 }, (_, worker) =>
    load({ claim, complete }, worker, acknowledged),
  );
  while (acknowledged.size < 200) await delay(20);
  await server.kill();
  await Promise.all(workers);
  await server.restart();
  const lost: string[] = [];
  for (const [key, state] of acknowledged) {
    const found = await store.inspect(key);
    const isThere = found?.owner === key && (state === 'claimed' || found.state === 'completed');
    if (!isThere) lost.push(key);
  }
  await server.stop();
  return lost.length;
}

/** Claims and completes new keys without a pause until the server is gone. */
async function load(
  { claim, complete }: Pick<Awaited<ReturnType<typeof setup>>, 'claim' | 'complete'>,
  worker: number,
  acknowledged: Acknowledged,
): Promise<void> {
  for (let n = 0; ; n += 1) {
    const key = `${worker}.${n}`;
    try {
      await claim(key, 2_000, key);
      acknowledged.set(key, 'claimed');
      if (n % 3 === 0) continue;
      await complete(key, 2_000, key);
      acknowledged.set(key, 'completed');
    } catch {
      return;
    }
  }
}
