import type { Express, RequestHandler } from 'express';
import type { IdempotencyStore } from '../../src/index.ts';

// What a part of a program may use without declaring it; a whole program declares what it uses.
declare global {
  const app: Express;
  const store: IdempotencyStore;
  const validate: RequestHandler;
  const createLabel: RequestHandler;
  const idempotent: typeof import('../../src/index.ts').idempotent;
  const MemoryStore: typeof import('../../src/index.ts').MemoryStore;
  const FaultyStore: typeof import('../../src/testing/index.ts').FaultyStore;
  const SettableClock: typeof import('../../src/testing/index.ts').SettableClock;
  const STORE_CONTRACT: typeof import('../../src/testing/index.ts').STORE_CONTRACT;
  const SqliteStore: typeof import('../../src/stores/sqlite/index.ts').SqliteStore;
  const PostgresStore: typeof import('../../src/stores/postgres/index.ts').PostgresStore;
  const MySqlStore: typeof import('../../src/stores/mysql/index.ts').MySqlStore;
  const RedisStore: typeof import('../../src/stores/redis/index.ts').RedisStore;
  const done: typeof import('../../src/operator/index.ts').done;
  const listRecords: typeof import('../../src/operator/index.ts').listRecords;
  const settle: typeof import('../../src/operator/index.ts').settle;
  const mysql2Transactions: typeof import('../../src/stores/mysql/index.ts').mysql2Transactions;
  const transactional: typeof import('../../src/index.ts').transactional;
  const pgTransactions: typeof import('../../src/stores/postgres/index.ts').pgTransactions;
  const aesGcmSeal: typeof import('../../src/stores/postgres/index.ts').aesGcmSeal;
  // What comes from drivers and test runners, as far as the stores see it.
  const Pool: typeof import('./drivers/pg.d.ts').Pool;
  const mysql: typeof import('./drivers/mysql2.d.ts').default;
  const Redis: typeof import('./drivers/ioredis.d.ts').Redis;
  const key: Buffer;
  const test: (name: string, run: () => Promise<void>) => void;
}
