import { callsOf } from '../calls.ts';
import { crashUnderLoad } from '../crash-load.ts';
import type { SqlDatabase } from './sql-database.ts';

/** How a server is started that keeps what it acknowledges, and one that does not. */
export interface CrashServers {
  readonly durable: () => Promise<SqlDatabase>;
  readonly forgetful: { readonly named: string; readonly start: () => Promise<SqlDatabase> };
}

/** What a store answers, and still has, when its server is killed and started again. */
export function describeCrash({ durable, forgetful }: CrashServers): void {
  test('no acknowledged claim or response is lost when the server is killed under load', async () => {
    const { acknowledged, lost } = await crash(durable);
    expect(acknowledged).toBeGreaterThan(50);
    expect(lost).toBe(0);
  });

  test(`they are lost with ${forgetful.named}: the test before can fail`, async () => {
    let lost = 0;
    // By chance the server writes all that it has just before it is killed.
    for (let tries = 0; lost === 0 && tries < 5; tries += 1) {
      const found = await crash(forgetful.start);
      expect(found.acknowledged).toBeGreaterThan(50);
      ({ lost } = found);
    }
    expect(lost).toBeGreaterThan(0);
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

/** The same calls under load, of a server that is killed meanwhile. */
async function crash(start: () => Promise<SqlDatabase>) {
  const { server, store, claim, complete } = await setup(start);
  return crashUnderLoad({
    server,
    claim: (key) => claim(key, 2_000, key),
    complete: (key) => complete(key, 2_000, key),
    inspect: (key) => store.inspect(key),
  });
}
