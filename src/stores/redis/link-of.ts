import { IdempotencyError } from '../../core/errors.ts';
import type { IoredisClient, NodeRedisClient, NodeRedisCluster, RedisClient } from './client.ts';
import { IoredisLink } from './ioredis-link.ts';
import type { RedisLink } from './link.ts';
import { NodeRedisLink } from './node-redis-link.ts';

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
      'got a Sentinel client of node-redis, which is not supported. An ioredis client with ' +
        '`sentinels` is.',
    );
  }
  if (typeof methods['sendCommand'] === 'function') {
    if (typeof methods['withTypeMapping'] === 'function') {
      return new NodeRedisLink(client as NodeRedisClient | NodeRedisCluster);
    }
    throw invalid('got a client of node-redis 4 or older. Take version 5 or later.');
  }
  throw invalid(`got ${client === null ? 'null' : `a value of type ${typeof client}`}.`);
}

function invalid(what: string): IdempotencyError {
  return new IdempotencyError(
    'option_invalid',
    'RedisStore: option "client" must be a Redis or Cluster of ioredis, or a client, pool or ' +
      `cluster of node-redis; ${what}`,
  );
}
