/** What the drivers take as an argument of a command. */
export type RedisArgument = string | Buffer;

/**
 * A `Redis` or `Cluster` of ioredis, as far as it is used here; one that follows a Sentinel is a
 * `Redis` too. It is lent: the store never ends it.
 */
export interface IoredisClient {
  readonly status: string;
  defineCommand(name: string, definition: { readonly lua: string }): void;
  pipeline(): unknown;
}

/**
 * A client or a pool of node-redis (the package `redis`, 5 or 6), as far as it is used here. It is
 * lent: the store neither connects nor ends it.
 */
export interface NodeRedisClient {
  sendCommand(args: RedisArgument[], options?: object): Promise<unknown>;
  withTypeMapping(mapping: object): unknown;
}

/** A cluster of node-redis, as far as it is used here. It is lent, too. */
export interface NodeRedisCluster {
  sendCommand(
    firstKey: string,
    isReadonly: boolean,
    args: RedisArgument[],
    options?: object,
  ): Promise<unknown>;
  withTypeMapping(mapping: object): unknown;
  readonly masters: readonly unknown[];
}

/** What a Redis store may be given: a client of ioredis or of node-redis, single or cluster. */
export type RedisClient = IoredisClient | NodeRedisClient | NodeRedisCluster;
