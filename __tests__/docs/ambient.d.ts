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
  const SqliteStore: typeof import('../../src/stores/sqlite/index.ts').SqliteStore;
}
