import type express from 'express';
import type { RequestHandler } from 'express';
import {
  type Attempt,
  type IdempotencyOptions,
  type IdempotencyStore,
  idempotent,
  MemoryStore,
} from '../../src/index.ts';
import { FaultyStore } from '../../src/testing/index.ts';
import { type Served, serve } from './served.ts';

export const BODY = '{"parcel_id":"parcel-42"}';

const served: Served[] = [];

/** Closes what the tests have served. */
export async function closeServed(): Promise<void> {
  for (const each of served.splice(0)) await each[Symbol.asyncDispose]();
}

/** A handler that is counted, behind the middleware; by itself it answers two `ETag` lines. */
export async function countedHandler(
  framework: typeof express,
  options: IdempotencyOptions = {},
  handler?: RequestHandler,
  store: IdempotencyStore = new MemoryStore(),
) {
  const faulty = new FaultyStore(store);
  const runs: (Attempt | undefined)[] = [];
  const create: RequestHandler = (req, res, next) => {
    runs.push(req.idempotency);
    if (handler !== undefined) {
      handler(req, res, next);
      return;
    }
    res.status(201).location('/labels/label-901');
    res.append('ETag', '"label-901-v1"').append('ETag', '"backup"');
    res.json({ label: runs.length });
  };
  const app = framework();
  app.set('env', 'test').set('x-powered-by', false);
  app.post('/labels', framework.json(), idempotent(faulty, options), create);
  app.all('/any', idempotent(faulty, options), create);
  const server = await serve(app);
  served.push(server);
  const journal = () => faulty.history.methods.join(' ');
  return { ask: server.ask, port: server.port, store: faulty, runs, journal };
}
