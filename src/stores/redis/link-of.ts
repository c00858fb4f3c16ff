import type { IdempotencyError } from '../../core/errors.ts';
import { invalidOption, kindOf } from '../../core/option-check.ts';
import type { IoredisClient, NodeRedisClient, NodeRedisCluster, RedisClient } from './client.ts';
import { IoredisLink } from './ioredis-link.ts';
import type { RedisLink } from './link.ts';
import { NodeRedisLink } from './node-redis-link.ts';
import { REDIS_STORE } from './options.ts';

/**
 * What the user gave as `client`, told apart by its methods.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function linkOf(client: RedisClient): RedisLink {
  const methods = (client ?? {}) as unknown as { readonly [name: string]: unknown };
  if (typeof methods['evalshaBuffer'] === 'function') {
    return new IoredisLink(client as IoredisClient);
  }
  if (typeof methods['getMasterNode'] === 'function') {
    throw invalid(
      'a Sentinel client of node-redis, which is not supported; an ioredis client with ' +
        '`sentinels` is',
    );
  }
  if (typeof methods['sendCommand'] === 'function') {
    if (typeof methods['withTypeMapping'] === 'function') {
      return new NodeRedisLink(client as NodeRedisClient | NodeRedisCluster);
    }
    throw invalid('a client of node-redis 4 or older: take version 5 or later');
  }
  throw invalid(kindOf(client));
}

function invalid(got: string): IdempotencyError {
  const expected = 'a Redis or Cluster of ioredis, or a client, pool or cluster of node-redis';
  return invalidOption(REDIS_STORE, 'client', expected, got);
}
