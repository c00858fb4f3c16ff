import type express from 'express';
import type { RequestHandler } from 'express';
import {
  type IdempotencyOptions,
  type IdempotencyStore,
  idempotent,
  MemoryStore,
  type RunningAttempt,
} from '../../src/index.ts';
import { SqliteStore } from '../../src/stores/sqlite/index.ts';
import { SettableClock } from '../../src/testing/index.ts';
import { TemporaryDirectory } from '../contract/sqlite/database.ts';
import { sqliteDriver } from '../contract/sqlite/driver.ts';
import { EXPRESS_VERSIONS } from '../http/express-versions.ts';
import { type Answered, type Served, serve, withoutDate } from '../http/served.ts';

export const LEASE_MS = 60_000;

type MakeStore = (clock: SettableClock) => Promise<IdempotencyStore>;

const ended: (() => unknown)[] = [];

/** Ends what the tests of a file have begun. */
export async function endAll(): Promise<void> {
  for (const end of ended.splice(0).reverse()) await end();
}

export async function sqliteStore(clock: SettableClock): Promise<SqliteStore> {
  const driver = sqliteDriver('node:sqlite') ?? sqliteDriver('better-sqlite3-12');
  if (driver === undefined) throw new Error('Expected a SQLite driver, got none.');
  const directory = new TemporaryDirectory();
  const handle = driver.open(directory.file('records.db'));
  ended.push(() => directory.remove());
  ended.push(() => handle.close());
  const store = new SqliteStore(handle, { now: clock.now });
  await store.migrate();
  ended.push(() => store.close());
  return store;
}

const STORES: readonly (readonly [name: string, make: MakeStore])[] = [
  ['MemoryStore', async (clock) => new MemoryStore({ now: clock.now })],
  ['SqliteStore', sqliteStore],
];

/** Each framework on each store that needs no server. */
export const PLACES = EXPRESS_VERSIONS.flatMap(([version, framework]) =>
  STORES.map(([name, makeStore]) => ({ place: `${version} on ${name}`, framework, makeStore })),
);

/** What a handler may do: the first runs of a key in order, then the last one for all others. */
export type Handlers = readonly RequestHandler[];

/** A route with a clock that the test moves, and handlers by the number of the run. */
export async function recoveryApp(
  framework: typeof express,
  makeStore: MakeStore,
  options: IdempotencyOptions,
  handlers: Handlers,
  outer: readonly RequestHandler[] = [],
) {
  const clock = new SettableClock();
  const store = await makeStore(clock);
  const runs: RunningAttempt[] = [];
  const app = framework().set('env', 'test').set('x-powered-by', false);
  app.post('/labels', ...outer, idempotent(store, options), (req, res, next) => {
    const handler = handlers[Math.min(runs.length, handlers.length - 1)] as RequestHandler;
    runs.push(req.idempotency as RunningAttempt);
    return handler(req, res, next);
  });
  const server = await serve(app);
  ended.push(() => server[Symbol.asyncDispose]());
  const ask = (key = 'k') => server.ask({ key }).then(withoutDate);
  return { app, ask, clock, store, runs, port: server.port };
}

/** Serves an app of its own, until the end of the test. */
export async function served(app: Parameters<typeof serve>[0]): Promise<Served> {
  const server = await serve(app);
  ended.push(() => server[Symbol.asyncDispose]());
  return server;
}

/** Status and body, which is what most promises are about. */
export function said({ status, body }: Answered): [status: number, body: string] {
  return [status, body];
}

export const PENDING: [number, string] = [409, '{"error":"request_pending"}'];
