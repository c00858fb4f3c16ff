import type { IoredisClient, RedisArgument } from './client.ts';
import { globbed } from './globbed.ts';
import type { RedisLink, RedisNode, ReplicaWait, ScriptCall, WaitedReply } from './link.ts';

/** A `Redis` or `Cluster` of ioredis. */
export class IoredisLink implements RedisLink {
  readonly isCluster: boolean;
  readonly #client: Ioredis;

  constructor(client: IoredisClient) {
    this.#client = client as Ioredis;
    this.isCluster = this.#client.isCluster === true;
  }

  run(call: ScriptCall): Promise<unknown> {
    return runOn(this.#client, call) as Promise<unknown>;
  }

  /** When the connection breaks in between, ioredis rejects the rest of a pipeline. */
  async runAndWait(call: ScriptCall, { replicas, timeoutMs }: ReplicaWait): Promise<WaitedReply> {
    const pipeline = this.#client.pipeline();
    runOn(pipeline, call);
    pipeline.wait(replicas, timeoutMs);
    const [ran, waited] = (await pipeline.exec()) ?? [];
    const error = ran?.[0] ?? waited?.[0];
    if (error !== undefined && error !== null) throw error;
    return { reply: ran?.[1], replicas: Number(waited?.[1]) };
  }

  async nodes(): Promise<readonly RedisNode[]> {
    if (!this.isCluster) return [new IoredisNode(this.#client, 'the server')];
    // Before the first connection the driver knows of none.
    if (this.#client.nodes('master').length === 0) await this.#client.info();
    return this.#client
      .nodes('master')
      .map((node) => new IoredisNode(node, `${node.options.host}:${node.options.port}`))
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  }
}

function runOn(target: ScriptRunner, { by, script, keys, args }: ScriptCall): unknown {
  return by === 'name'
    ? target.evalshaBuffer(script.sha, keys.length, ...keys, ...args)
    : target.evalBuffer(script.text, keys.length, ...keys, ...args);
}

class IoredisNode implements RedisNode {
  readonly name: string;
  readonly #client: Ioredis;

  constructor(client: Ioredis, name: string) {
    this.#client = client;
    this.name = name;
  }

  info(): Promise<string> {
    return this.#client.info();
  }

  async settings(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const settings = new Map<string, string>();
    for (const name of names) {
      const [, value] = pairOf(await this.#client.config('GET', name));
      if (value !== undefined) settings.set(name, value);
    }
    return settings;
  }

  async scan(cursor: string, pattern: string, count: number) {
    // Only here does ioredis leave its own prefix to the caller.
    const prefix = this.#client.options.keyPrefix ?? '';
    const match = globbed(prefix) + pattern;
    const [next, keys] = await this.#client.scan(cursor, 'MATCH', match, 'COUNT', count);
    return { cursor: next, keys: keys.map((key) => key.slice(prefix.length)) };
  }

  async nowMs(): Promise<number> {
    const [seconds, micros] = await this.#client.time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  }
}

function pairOf(reply: unknown): readonly (string | undefined)[] {
  return Array.isArray(reply) ? reply : (Object.entries(reply ?? {})[0] ?? []);
}

interface ScriptRunner {
  evalshaBuffer(sha: string, keyCount: number, ...rest: RedisArgument[]): unknown;
  evalBuffer(text: string, keyCount: number, ...rest: RedisArgument[]): unknown;
}

type PipelineReply = readonly [error: Error | null, reply: unknown];

/** What is used of ioredis beyond what its user is asked for. */
interface Ioredis extends IoredisClient, ScriptRunner {
  readonly isCluster?: boolean;
  readonly options: {
    readonly keyPrefix?: string;
    readonly host?: string;
    readonly port?: number;
  };
  pipeline(): ScriptRunner & {
    wait(replicas: number, timeoutMs: number): unknown;
    exec(): Promise<readonly PipelineReply[] | null>;
  };
  nodes(role: 'master'): readonly Ioredis[];
  info(): Promise<string>;
  config(command: 'GET', name: string): Promise<unknown>;
  scan(
    cursor: string,
    match: 'MATCH',
    pattern: string,
    count: 'COUNT',
    number: number,
  ): Promise<readonly [cursor: string, keys: readonly string[]]>;
  time(): Promise<readonly [seconds: number | string, micros: number | string]>;
}
