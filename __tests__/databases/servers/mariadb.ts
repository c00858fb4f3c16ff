import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import mysql, { type Pool, type PoolOptions, type RowDataPacket } from 'mysql2/promise';
import { makeDataDirectory } from './data-directory.ts';
import { freePort, ServerProcess, serverDirectory, serverUser } from './server-process.ts';

const MARIADB = '/usr/sbin/mariadbd';
const INSTALL = '/usr/bin/mariadb-install-db';
const HOST = '127.0.0.1';
const USER = 'tester';
const DATABASE = 'shop';

/** Settings of the server: `innodb_flush_log_at_trx_commit: '0'`. */
export type MariaDbSettings = { readonly [name: string]: string };

/** A MariaDB that a test may kill, on a free port and with a data directory of its own. */
export class MariaDbServer {
  readonly port: number;
  readonly #process: ServerProcess;
  readonly #settings: MariaDbSettings;
  readonly #ends: (() => Promise<unknown>)[] = [];

  private constructor(port: number, process: ServerProcess, settings: MariaDbSettings) {
    this.port = port;
    this.#process = process;
    this.#settings = settings;
  }

  static async start(settings: MariaDbSettings = {}): Promise<MariaDbServer> {
    const server = await MariaDbServer.#startEmpty(settings);
    await server.#makeUser();
    return server;
  }

  static async #startEmpty(settings: MariaDbSettings): Promise<MariaDbServer> {
    if (!existsSync(MARIADB)) {
      throw new Error(`There is no ${MARIADB}: apt-get install mariadb-server`);
    }
    const user = serverUser('mysql');
    const directory = serverDirectory('mariadb', user);
    await makeDataDirectory(MARIADB, join(directory, 'data'), (data) => {
      const options = ['--no-defaults', '--auth-root-authentication-method=normal'];
      // In a shared directory two that install at once remove each other's temporary tables.
      const own = ['--skip-test-db', `--datadir=${data}`, `--tmpdir=${directory}`];
      execFileSync(INSTALL, [...options, ...own], { ...user, cwd: directory, stdio: 'pipe' });
    });
    const process = new ServerProcess(directory, user);
    const server = new MariaDbServer(await freePort(), process, settings);
    await server.restart();
    return server;
  }

  /** A read-only replica of a running server from its beginning on, fed through `port`. */
  static async replicaOf(
    primary: MariaDbServer,
    port: number = primary.port,
  ): Promise<MariaDbServer> {
    const settings = { 'server-id': '2', 'rpl-semi-sync-slave-enabled': '1' };
    const replica = await MariaDbServer.#startEmpty(settings);
    await replica.query(`change master to master_host = '${HOST}', master_port = ${port},
      master_user = 'root', master_use_gtid = slave_pos, master_connect_retry = 1`);
    await replica.query('start slave');
    await replica.query('set global read_only = 1');
    return replica;
  }

  get address(): { host: string; port: number; user: string; database: string } {
    return { host: HOST, port: this.port, user: USER, database: DATABASE };
  }

  get url(): string {
    return `mysql://${USER}@${HOST}:${this.port}/${DATABASE}`;
  }

  /** Starts it again after `kill`, with other settings if any are given. */
  restart(settings: MariaDbSettings = {}): Promise<void> {
    const { directory } = this.#process;
    // A server that starts removes what others have left in a directory that they share.
    const own = { datadir: join(directory, 'data'), tmpdir: directory, port: String(this.port) };
    const all = { ...DEFAULTS, ...this.#settings, ...settings, ...own };
    const flags = Object.entries(all).map(([name, value]) => `--${name}=${value}`);
    return this.#process.start(MARIADB, ['--no-defaults', ...flags], () => this.#answers());
  }

  /** As a crash of the machine but for the page cache. */
  kill(): Promise<void> {
    return this.#process.kill('SIGKILL');
  }

  pause(): void {
    this.#process.pause(true);
  }

  resume(): void {
    this.#process.pause(false);
  }

  /** A pool of `mysql2` that ends with the server. */
  pool(options: PoolOptions = {}): Pool {
    const pool = mysql.createPool({ ...this.address, ...options });
    this.#ends.push(() => pool.end());
    return pool;
  }

  /** Rows of one statement, on a connection of its own, of a user who may do everything. */
  async query(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    const { host, port } = this.address;
    const connection = await mysql.createConnection({ host, port, user: 'root' });
    try {
      const [rows] = await connection.query<RowDataPacket[]>(text, values);
      return Array.isArray(rows) ? rows : [];
    } finally {
      connection.destroy();
    }
  }

  /** Makes a replica the primary. */
  async promote(): Promise<void> {
    await this.query('stop slave');
    await this.query('set global read_only = 0');
  }

  async stop(): Promise<void> {
    await Promise.all(this.#ends.map((end) => Promise.race([end().catch(() => {}), soon()])));
    await this.#process.remove();
  }

  /** Without the privileges that would let it write to a server that is read-only. */
  async #makeUser(): Promise<void> {
    await this.query(`create database ${DATABASE}`);
    await this.query(`create user ${USER}@'%'`);
    await this.query(`grant all on ${DATABASE}.* to ${USER}@'%'`);
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

const DEFAULTS: MariaDbSettings = {
  'bind-address': HOST,
  socket: 'socket',
  'pid-file': 'pid',
  'max-connections': '300',
  'innodb-buffer-pool-size': '64M',
  'skip-name-resolve': '1',
};

/** A pool that waits for a connection which the test has cut does not keep the test waiting. */
function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1_000).unref());
}
