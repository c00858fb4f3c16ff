export { type AesGcmSealOptions, aesGcmSeal, type ResponseSeal } from '../seal.ts';
export type { IoredisClient, NodeRedisClient, NodeRedisCluster, RedisClient } from './client.ts';
export type { RedisDurability, RedisServerSettings } from './durability.ts';
export type { RedisStoreOptions } from './options.ts';
export { RedisStore } from './store.ts';
