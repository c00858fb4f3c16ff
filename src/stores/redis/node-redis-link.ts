import type { NodeRedisClient, NodeRedisCluster, RedisArgument } from './client.ts';
import type { RedisLink, RedisNode, ReplicaWait, ScriptCall, WaitedReply } from './link.ts';
import { errorWordOf } from './redis-error.ts';

/** A client, a pool or a cluster of node-redis. */
export class NodeRedisLink implements RedisLink {
  readonly isCluster: boolean;
  readonly #client: NodeRedis;
  readonly #cluster: NodeCluster;

  constructor(client: NodeRedisClient | NodeRedisCluster) {
    this.#client = client as NodeRedis;
    this.#cluster = client as NodeCluster;
    this.isCluster = 'masters' in client;
  }

  run(call: ScriptCall): Promise<unknown> {
    return this.#send(call.keys[0] ?? '', commandOf(call));
  }

  /** A pipeline is a chain: when the connection breaks in between, the rest of it is rejected. */
  async runAndWait(call: ScriptCall, { replicas, timeoutMs }: ReplicaWait): Promise<WaitedReply> {
    const run = commandOf(call);
    const wait = ['WAIT', `${replicas}`, `${timeoutMs}`];
    const key = call.keys[0] ?? '';
    try {
      return await this.#pipeline(key, run, wait);
    } catch (error) {
      if (!this.isCluster || errorWordOf(error) !== 'MOVED') throw error;
      // Nothing ran. The pipeline does not follow, but a plain command makes the driver look again.
      await this.#send(key, ['EXISTS', key]);
      return this.#pipeline(key, run, wait);
    }
  }

  async nodes(): Promise<readonly RedisNode[]> {
    if (!this.isCluster) return [new NodeRedisNode(this.#client, 'the server')];
    const nodes = this.#cluster.masters.map(
      async (master) => new NodeRedisNode(await this.#cluster.nodeClient(master), master.address),
    );
    return (await Promise.all(nodes)).sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  #send(key: string, args: RedisArgument[]): Promise<unknown> {
    return this.isCluster
      ? this.#cluster.sendCommand(key, false, args, AS_BUFFERS)
      : this.#client.sendCommand(args, AS_BUFFERS);
  }

  async #pipeline(key: string, run: RedisArgument[], wait: RedisArgument[]): Promise<WaitedReply> {
    const { typeMapping } = AS_BUFFERS;
    const chain = this.isCluster
      ? this.#cluster
          .withTypeMapping(typeMapping)
          .multi(key)
          .addCommand(key, false, run)
          .addCommand(key, false, wait)
      : this.#client.withTypeMapping(typeMapping).multi().addCommand(run).addCommand(wait);
    const [reply, replicas] = await chain.execAsPipeline().catch((error: unknown) => {
      // All replies, when the driver has waited for them: the first error is what matters.
      const { replies } = error as { readonly replies?: readonly unknown[] };
      throw replies?.find((each) => errorWordOf(each) !== undefined) ?? error;
    });
    return { reply, replicas: Number(replicas) };
  }
}

function commandOf({ by, script, keys, args }: ScriptCall): RedisArgument[] {
  return by === 'name'
    ? ['EVALSHA', script.sha, `${keys.length}`, ...keys, ...args]
    : ['EVAL', script.text, `${keys.length}`, ...keys, ...args];
}

/** Strings of any kind come as bytes: 36 is the code of `$`, in both versions of the protocol. */
const AS_BUFFERS = { typeMapping: { 36: Buffer } };

class NodeRedisNode implements RedisNode {
  readonly name: string;
  readonly #client: NodeRedis;

  constructor(client: NodeRedis, name: string) {
    this.#client = client;
    this.name = name;
  }

  async info(): Promise<string> {
    return String(await this.#client.sendCommand(['INFO']));
  }

  async settings(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const settings = new Map<string, string>();
    for (const name of names) {
      const reply = await this.#client.sendCommand(['CONFIG', 'GET', name]);
      // A list in the second version of the protocol, a map in the third.
      const [, value] = Array.isArray(reply) ? reply : (Object.entries(reply ?? {})[0] ?? []);
      if (value !== undefined) settings.set(name, String(value));
    }
    return settings;
  }

  async scan(cursor: string, pattern: string, count: number) {
    const args = ['SCAN', cursor, 'MATCH', pattern, 'COUNT', `${count}`];
    const [next, keys] = (await this.#client.sendCommand(args)) as [unknown, unknown[]];
    return { cursor: String(next), keys: keys.map(String) };
  }

  async nowMs(): Promise<number> {
    const [seconds, micros] = (await this.#client.sendCommand(['TIME'])) as unknown[];
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  }
}

/** What is used of node-redis beyond what its user is asked for. */
interface NodeRedis extends NodeRedisClient {
  withTypeMapping(mapping: object): {
    multi(): PipelineOf<[args: RedisArgument[]]>;
  };
}

interface NodeCluster extends NodeRedisCluster {
  withTypeMapping(mapping: object): {
    multi(key: string): PipelineOf<[key: string, isReadonly: boolean, args: RedisArgument[]]>;
  };
  readonly masters: readonly { readonly address: string }[];
  nodeClient(node: { readonly address: string }): Promise<NodeRedis> | NodeRedis;
}

interface PipelineOf<Command extends unknown[]> {
  addCommand(...command: Command): this;
  execAsPipeline(): Promise<readonly unknown[]>;
}
