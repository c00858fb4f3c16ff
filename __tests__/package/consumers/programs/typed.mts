import express, { type RequestHandler } from 'express';
import {
  type Attempt,
  FencedError,
  IdempotencyError,
  type IdempotencyOptions,
  type IdempotencyStore,
  idempotencyMiddleware,
  idempotent,
  MemoryStore,
} from 'express-idempotent';
import { labelsRouter } from 'express-idempotent/labels';
import { SqliteStore } from 'express-idempotent/sqlite';
import { FaultyStore } from 'express-idempotent/testing';

const app = express();
const store: IdempotencyStore = new MemoryStore();

// The middleware is a handler like any other, on a route, a router and an app.
const handler: RequestHandler = idempotent(store);
app.use(handler);
app.use('/v1', idempotencyMiddleware(store));
app.put('/labels/:label_id', express.json(), idempotent(store), (req, res) => {
  // It does not narrow what later handlers read.
  const id: string = req.params.label_id;
  const name: string = req.body.name;
  // @ts-expect-error the route has no such parameter
  const other: string = req.params.parcel_id;
  // The attempt is there under a key, and typed.
  const attempt: Attempt | undefined = req.idempotency;
  const key: string | undefined = req.idempotency?.key;
  res.status(201).json({ id, name, other, key, number: attempt?.attempt });
});

// Every option is typed by what it is given.
const options: IdempotencyOptions = {
  fingerprint: (req) => `${req.method} ${req.originalUrl}`,
  tenant: async (req) => req.get('x-account') ?? '',
  key: (req) => req.get('x-request-id'),
  operation: 'create a label',
  admit: (context) => (context.attempt > 3 ? 429 : 0),
  keep: (status) => (status === 404 ? 'pending' : 'save'),
  maxResponseBytes: 1024,
};
app.post('/labels', idempotent(store, options), (_req, res) => void res.end());

// @ts-expect-error an option of this name does not exist
idempotent(store, { fingerPrint: () => '' });
// @ts-expect-error `true` does not admit
idempotent(store, { admit: () => true });
// @ts-expect-error a fingerprint is a string
idempotent(store, { fingerprint: () => 1 });
// @ts-expect-error a store comes first
idempotent();
// @ts-expect-error a store has three methods
idempotent({ claim: async () => ({ kind: 'new', attempt: 1 }) });

export const codeOf = (error: unknown): string | undefined =>
  error instanceof IdempotencyError || error instanceof FencedError ? error.code : undefined;

export const durable: Promise<IdempotencyStore> = SqliteStore.open('labels.db');
export const faulty: IdempotencyStore = new FaultyStore(new MemoryStore());
export const router: typeof labelsRouter = labelsRouter;
