import { existsSync } from 'node:fs';
import { createConnection } from 'node:net';
import { Redis, type RedisOptions } from 'ioredis';
import { createClient } from 'redis';
import { freePort, ServerProcess, serverDirectory, serverUser } from './server-process.ts';

const REDIS_SERVER = '/usr/bin/redis-server';
const HOST = '127.0.0.1';

/** Settings of the server: `appendonly: 'yes'`. */
export type RedisSettings = { readonly [name: string]: string };

/** Every write is on the disk before it is acknowledged. */
export const DURABLE: RedisSettings = { appendonly: 'yes', appendfsync: 'always' };

/** No snapshots, and a replica is served as soon as it asks. */
const BASE: RedisSettings = { bind: HOST, save: '', 'repl-diskless-sync-delay': '0' };

interface NodeRedisOptions {
  readonly port?: number;
  readonly RESP?: 2 | 3;
  readonly later?: boolean;
}

/** A Redis that a test may kill, on a free port and with a data directory of its own. */
export class RedisServer {
  readonly port: number;
  readonly #process: ServerProcess;
  readonly #settings: RedisSettings;
  readonly #ends: (() => unknown)[] = [];

  private constructor(port: number, process: ServerProcess, settings: RedisSettings) {
    this.port = port;
    this.#process = process;
    this.#settings = settings;
  }

  static async start(settings: RedisSettings = DURABLE): Promise<RedisServer> {
    if (!existsSync(REDIS_SERVER)) {
      throw new Error(`There is no ${REDIS_SERVER}: apt-get install redis-server`);
    }
    const user = serverUser('redis');
    const process = new ServerProcess(serverDirectory('redis', user), user);
    const server = new RedisServer(await freePort(), process, settings);
    await server.restart();
    return server;
  }

  /** Starts it again after `kill`, with what is on its disk. */
  restart(): Promise<void> {
    const all = { ...BASE, ...this.#settings, port: String(this.port) };
    const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]);
    return this.#process.start(REDIS_SERVER, args, () => this.#answers());
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

  /** A client of ioredis that ends with the server. */
  ioredis(options: Omit<RedisOptions, 'replyMapping'> = {}): Redis {
    const client = new Redis(options.port ?? this.port, HOST, options);
    this.#ends.push(() => client.disconnect());
    return quiet(client);
  }

  /** A client of node-redis that ends with the server; connected, unless the server comes later. */
  async nodeRedis({ port = this.port, RESP = 3, later = false }: NodeRedisOptions = {}) {
    const client = quiet(createClient({ socket: { host: HOST, port }, RESP }));
    this.#ends.push(() => client.destroy());
    const connected = client.connect();
    if (later) connected.catch(() => {});
    else await connected;
    return client;
  }

  async stop(): Promise<void> {
    for (const end of this.#ends) endQuietly(end);
    await this.#process.remove();
  }

  #answers(): Promise<boolean> {
    return answersPing(this.port);
  }
}

/** A client that is not connected throws when it is ended. */
function endQuietly(end: () => unknown): void {
  try {
    end();
  } catch {
    // It is at its end already.
  }
}

/** What becomes of connections when a test kills the server is told by the calls. */
export function quiet<Client extends { on(event: 'error', listener: () => void): unknown }>(
  client: Client,
): Client {
  client.on('error', () => {});
  return client;
}

/** Whether a Redis is there and has loaded its data. */
function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, HOST, () => socket.write('PING\r\n'));
    const answer = (isReady: boolean) => {
      socket.destroy();
      resolve(isReady);
    };
    socket.once('data', (bytes) => answer(bytes.toString().startsWith('+PONG')));
    socket.once('error', () => answer(false));
  });
}
