import { Redis } from 'ioredis';
import { RedisStore } from '../../../src/stores/redis/index.ts';
import { claimAll } from '../claimants.ts';

void claimAll((port) => new RedisStore({ client: new Redis(Number(port), '127.0.0.1') }));
