// What examples import of ioredis, as far as the stores see it.
import type { RedisClient } from '../../../src/stores/redis/index.ts';

export declare const Redis: new () => RedisClient;
