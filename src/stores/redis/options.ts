import { A_BOOLEAN, checkOptions, milliseconds, wholeNumber } from '../../core/option-check.ts';
import { RETENTION_RULES, type RetentionOptions } from '../retention.ts';
import { A_SEAL, type ResponseSeal } from '../seal.ts';
import type { RedisClient } from './client.ts';

/** The options of {@link RedisStore}. */
export interface RedisStoreOptions extends RetentionOptions {
  /**
   * A `Redis` or `Cluster` of ioredis, or a client, pool or cluster of node-redis. It is lent: the
   * store neither connects nor ends it, and changes none of its settings.
   */
  readonly client: RedisClient;
  /**
   * What the keys of all records begin with: up to 100 characters, without braces, since what is in
   * braces decides where in a cluster a record lives.
   *
   * @default 'idempotent:'
   */
  readonly prefix?: string;
  /**
   * How many replicas must have a claim or a response before it is acknowledged. When fewer have it
   * in time the call rejects, and the client is answered 503. It narrows what a failover can lose,
   * and does not end it: see docs/stores/redis.md.
   *
   * @default 0
   */
  readonly waitReplicas?: number;
  /**
   * How long to wait for them. Other commands on the same connection wait too.
   *
   * @default 1_000
   */
  readonly waitReplicasTimeoutMs?: number;
  /**
   * Lets the store work although the server's settings may lose acknowledged records, and actions
   * may then run twice.
   *
   * @default false
   */
  readonly acceptDataLoss?: boolean;
  /** Encrypts saved responses; see `aesGcmSeal`. Keys and fingerprints stay readable. */
  readonly seal?: ResponseSeal;
  /**
   * Whether a store with a seal also replays responses that are not sealed: on the way to one, for
   * as long as old results are kept. Whoever can write to Redis can then forge a response.
   *
   * @default false
   */
  readonly acceptUnsealed?: boolean;
  /**
   * Takes the place of the server's clock in records, in milliseconds since 1970: for tests. What
   * ends by itself still ends by the server's own clock.
   */
  readonly now?: () => number;
}

/** Whose options they are. */
export const REDIS_STORE = { name: 'RedisStore', page: 'docs/stores/redis.md' };

/** What a client is, is found out where it is put to use. */
const A_CLIENT = { expected: 'a client', holds: () => true };

/** @throws {IdempotencyError} `option_invalid`. */
export function checkRedisOptions(options: RedisStoreOptions): void {
  checkOptions<RedisStoreOptions>(REDIS_STORE, options, {
    ...RETENTION_RULES,
    client: A_CLIENT,
    prefix: {
      expected: 'a string of up to 100 characters without braces',
      holds: (value) => typeof value === 'string' && /^[^{}]{0,100}$/su.test(value),
    },
    waitReplicas: wholeNumber(0, 100),
    waitReplicasTimeoutMs: milliseconds(1, 60_000),
    acceptDataLoss: A_BOOLEAN,
    seal: A_SEAL,
    acceptUnsealed: A_BOOLEAN,
  });
}
