import { setTimeout as delay } from 'node:timers/promises';
import { Cluster, type Redis } from 'ioredis';
import { createCluster } from 'redis';
import { quiet, RedisServer } from './redis.ts';

const NODES = 3;
const SLOTS = 16_384;
const WAIT_MS = 60_000;

/** Three primaries that share the slots, and no replicas. */
export class RedisCluster {
  readonly servers: readonly RedisServer[];
  /** A plain client of each primary. */
  readonly primaries: readonly Redis[];
  readonly #ends: (() => unknown)[] = [];

  private constructor(servers: readonly RedisServer[]) {
    this.servers = servers;
    this.primaries = servers.map((server) => server.ioredis());
  }

  static async start(): Promise<RedisCluster> {
    const settings = { 'cluster-enabled': 'yes', 'cluster-node-timeout': '2000' };
    const starting = Array.from({ length: NODES }, () => RedisServer.start(settings));
    const cluster = new RedisCluster(await Promise.all(starting));
    await cluster.#join();
    return cluster;
  }

  get addresses() {
    return this.servers.map(({ port }) => ({ host: '127.0.0.1', port }));
  }

  /** A cluster client of ioredis that ends with the cluster. */
  ioredis(options: { readonly enableAutoPipelining?: boolean } = {}): Cluster {
    const client = quiet(new Cluster(this.addresses, options));
    this.#ends.push(() => client.disconnect());
    return client;
  }

  /** A cluster client of node-redis that ends with the cluster, connected. */
  async nodeRedis() {
    const rootNodes = this.addresses.map((socket) => ({ socket }));
    const client = quiet(createCluster({ rootNodes }));
    this.#ends.push(() => client.destroy());
    await client.connect();
    return client;
  }

  async stop(): Promise<void> {
    for (const end of this.#ends) end();
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  async #join(): Promise<void> {
    const [first] = this.addresses;
    const share = Math.ceil(SLOTS / NODES);
    for (const [index, primary] of this.primaries.entries()) {
      const from = index * share;
      const last = Math.min(SLOTS, from + share) - 1;
      await primary.cluster('ADDSLOTSRANGE', from, last);
      await primary.cluster('SET-CONFIG-EPOCH', index + 1);
      await primary.cluster('MEET', first?.host ?? '', first?.port ?? 0);
    }
    const endMs = performance.now() + WAIT_MS;
    while (!(await this.#agrees())) {
      if (performance.now() > endMs) throw new Error('The cluster did not come together.');
      await delay(50);
    }
  }

  async #agrees(): Promise<boolean> {
    const infos = await Promise.all(this.primaries.map((primary) => primary.cluster('INFO')));
    return infos.every(
      (info) => /cluster_state:ok/.test(info) && /cluster_known_nodes:3/.test(info),
    );
  }
}
