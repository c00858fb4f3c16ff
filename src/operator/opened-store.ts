import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { IdempotencyStore } from '../core/store.ts';
import type { MySqlPool } from '../stores/mysql/index.ts';
import type { PgPool, PostgresJsSql } from '../stores/postgres/index.ts';
import type { IoredisClient, NodeRedisClient } from '../stores/redis/index.ts';
import type { SqliteHandle } from '../stores/sqlite/index.ts';
import type { StoreAddress } from './store-address.ts';

/** A store that the command line has opened, and its end. */
export interface OpenedStore {
  readonly store: IdempotencyStore;
  close(): Promise<void>;
}

/**
 * Opens a store that is there: nothing is made and nothing is migrated. Drivers are those of the
 * project in `folder`; only the one that is needed is loaded.
 *
 * Rejects with a sentence, which may hold what a driver said of the address.
 */
export async function openStore(address: StoreAddress, folder: string): Promise<OpenedStore> {
  const { backend } = address;
  switch (backend) {
    case 'sqlite':
      return openSqlite(address, folder);
    case 'postgres':
      return openPostgres(address, folder);
    case 'redis':
      return openRedis(address, folder);
    case 'mysql':
      return openMySql(address, folder);
    case 'module':
      return openModule(address, folder);
    default:
      return backend satisfies never;
  }
}

const CONNECT_TIMEOUT_MS = 5_000;
/** One statement at a time is all that is sent; the other is for a call that hangs. */
const MAX_CONNECTIONS = 2;

async function openSqlite({ target, table }: StoreAddress, folder: string): Promise<OpenedStore> {
  const path = resolve(folder, target);
  // A driver would make it, and a slip of the finger would look like a database without records.
  if (!existsSync(path)) throw new Error(`There is no file ${target}.`);
  const sqlite: { readonly DatabaseSync?: SqliteDriver } | undefined =
    process.getBuiltinModule('node:sqlite');
  const Driver = sqlite?.DatabaseSync ?? loaded<SqliteDriver>(folder, 'better-sqlite3');
  if (Driver === undefined) throw noDriver('SQLite', 'better-sqlite3', ', or use Node 22.13');
  const { SqliteStore } = await import('../stores/sqlite/index.ts');
  const handle = new Driver(path);
  const store = new SqliteStore(handle, { ...named({ table }) }, `The SQLite file ${target}`);
  return {
    store,
    async close() {
      await store.close();
      handle.close();
    },
  };
}

async function openPostgres(address: StoreAddress, folder: string): Promise<OpenedStore> {
  const { target, table, schema } = address;
  const { PostgresStore } = await import('../stores/postgres/index.ts');
  const open = (client: PgPool | PostgresJsSql, close: () => Promise<void>) => ({
    store: new PostgresStore({ client, ...named({ table, schema }) }),
    close,
  });
  const pg = loaded<{ readonly Pool: Constructor<PgPool & Ended & Quiet> }>(folder, 'pg');
  if (pg !== undefined) {
    const pool = new pg.Pool({
      connectionString: target,
      max: MAX_CONNECTIONS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    pool.on('error', () => {});
    return open(pool, () => pool.end());
  }
  const postgres = loaded<(url: string, options: object) => PostgresJsSql & Ended>(
    folder,
    'postgres',
  );
  if (postgres === undefined) throw noDriver('PostgreSQL', 'pg');
  const sql = postgres(target, {
    max: MAX_CONNECTIONS,
    connect_timeout: CONNECT_TIMEOUT_MS / 1_000,
  });
  return open(sql, () => sql.end());
}

async function openMySql({ target, table }: StoreAddress, folder: string): Promise<OpenedStore> {
  const mysql2 = loaded<{ createPool(options: object): MySqlPool & Ended }>(
    folder,
    'mysql2/promise',
  );
  if (mysql2 === undefined) throw noDriver('MySQL', 'mysql2');
  const { MySqlStore } = await import('../stores/mysql/index.ts');
  const pool = mysql2.createPool({
    uri: target.replace(/^mariadb:/i, 'mysql:'),
    connectionLimit: MAX_CONNECTIONS,
    connectTimeout: CONNECT_TIMEOUT_MS,
  });
  return {
    store: new MySqlStore({ client: pool, ...named({ table }) }),
    close: () => pool.end(),
  };
}

async function openRedis({ target, prefix }: StoreAddress, folder: string): Promise<OpenedStore> {
  const { RedisStore } = await import('../stores/redis/index.ts');
  const open = (client: IoredisClient | NodeRedisClient, close: () => void) => ({
    store: new RedisStore({ client, ...named({ prefix }) }),
    close: async () => close(),
  });
  const ioredis = loaded<{ readonly Redis: Constructor<IoredisConnection> }>(folder, 'ioredis');
  if (ioredis !== undefined) {
    const client = new ioredis.Redis(target, {
      lazyConnect: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      retryStrategy: () => null,
    });
    // The rejection of `connect` says the same, but for what went wrong.
    const failed = new Promise<never>((_, reject) => client.on('error', reject));
    await Promise.race([client.connect(), failed]);
    return open(client, () => client.disconnect());
  }
  const redis = loaded<{ createClient(options: object): NodeRedisConnection }>(folder, 'redis');
  if (redis === undefined) throw noDriver('Redis', 'ioredis');
  const socket = { reconnectStrategy: false, connectTimeout: CONNECT_TIMEOUT_MS };
  const client = redis.createClient({ url: target, socket });
  client.on('error', () => {});
  await client.connect();
  return open(client, () => client.destroy());
}

/** A module is what has everything that no address can say: a seal, a cluster, certificates. */
async function openModule({ target }: StoreAddress, folder: string): Promise<OpenedStore> {
  const path = resolve(folder, target);
  if (!existsSync(path)) throw new Error(`There is no file ${target}.`);
  const module: { readonly default?: unknown } = await import(pathToFileURL(path).href);
  const exported = module.default;
  const store: unknown = await (typeof exported === 'function' ? exported() : exported);
  if (!isStore(store)) {
    throw new Error(
      `Expected ${target} to export a store by default, or a function that answers one, ` +
        `got ${exported === undefined ? 'nothing' : 'something else'}.`,
    );
  }
  return { store, close: async () => store[Symbol.asyncDispose]?.() };
}

type SqliteDriver = new (path: string) => SqliteHandle;
type Constructor<T> = new (...options: unknown[]) => T;

interface Ended {
  end(): Promise<void>;
}

interface Quiet {
  on(event: 'error', listener: (error: Error) => void): unknown;
}

interface IoredisConnection extends IoredisClient, Quiet {
  connect(): Promise<void>;
  disconnect(): void;
}

interface NodeRedisConnection extends NodeRedisClient, Quiet {
  connect(): Promise<unknown>;
  destroy(): void;
}

/** A package of the user's project; `undefined` when it has none of this name. */
function loaded<T>(folder: string, name: string): T | undefined {
  const fromProject = createRequire(join(folder, 'package.json'));
  try {
    fromProject.resolve(name);
  } catch {
    return undefined;
  }
  return fromProject(name) as T;
}

function noDriver(backend: string, name: string, or = ''): Error {
  return new Error(
    `No driver of ${backend} is there: run this in the project that has one, or \`npm install ` +
      `${name}\` in it${or}.`,
  );
}

/** Without the names that were not given. */
function named<Names extends object>(names: Names): { [N in keyof Names]: NonNullable<Names[N]> } {
  return Object.fromEntries(
    Object.entries(names).filter(([, name]) => name !== undefined),
  ) as never;
}

function isStore(value: unknown): value is IdempotencyStore & Partial<AsyncDisposable> {
  const { claim, complete, release } = (value ?? {}) as Partial<IdempotencyStore>;
  return [claim, complete, release].every((verb) => typeof verb === 'function');
}
