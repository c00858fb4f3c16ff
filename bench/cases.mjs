// What is measured: one route, the same handler, and what stands before it. Every case is an
// application of its own, in a process of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import express from 'express';

/**
 * `guard` makes what stands between the body parser and the handler; it is made anew for every
 * round, with an empty store, so that no round pays for what another has stored. `keys` says
 * whether the client sends a new key each time or one key only; `runs` is how often the handler
 * may then run.
 */
export const CASES = {
  bare: { keys: 'new', title: 'bare handler' },
  new: { keys: 'new', title: 'idempotent(new MemoryStore()), new key', guard: inMemory },
  replay: { keys: 'one', title: 'idempotent(new MemoryStore()), replay', guard: inMemory },
  peer: { keys: 'new', title: 'express-idempotency 1.0.6, new key', guard: peer },
  sqlite: { keys: 'new', title: 'idempotent(SqliteStore), new key', guard: inSqlite },
  'sqlite-replay': { keys: 'one', title: 'idempotent(SqliteStore), replay', guard: inSqlite },
};

/** The application of a case; `begin` gives it an empty store, `runs` counts its handler. */
export function application(name, build) {
  const { guard } = CASES[name];
  const state = { runs: 0, handle: undefined, end: async () => {} };
  const app = express();
  const layers = [express.json()];
  if (guard) layers.push((req, res, next) => state.handle(req, res, next));
  app.post('/labels', ...layers, (req, res) => {
    // The peer calls the handler for retries too, and leaves it to the handler to notice.
    if (state.isDone?.(req)) return;
    state.runs += 1;
    res.status(201);
    res.set('Location', '/labels/label-901');
    res.set('ETag', ['"label-901-v1"', '"backup"']);
    res.json({ request_id: req.body.request_id, state: 'created', label_id: 'label-901' });
  });
  return {
    app,
    runs: () => state.runs,
    async begin() {
      await state.end();
      state.runs = 0;
      if (guard) Object.assign(state, await guard(build));
    },
    end: () => state.end(),
  };
}

async function inMemory(build) {
  const { idempotent, MemoryStore } = await load(build, 'index.js');
  return { handle: idempotent(new MemoryStore({ maxRecords: 1_000_000 })) };
}

async function inSqlite(build) {
  const { idempotent } = await load(build, 'index.js');
  const { SqliteStore } = await load(build, 'stores/sqlite/index.js');
  const folder = mkdtempSync(join(tmpdir(), 'idempotent-bench-'));
  const store = await SqliteStore.open(join(folder, 'records.db'));
  const end = async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  };
  return { handle: idempotent(store), end };
}

async function peer() {
  const { idempotency, getSharedIdempotencyService } = createRequire(import.meta.url)(
    'express-idempotency',
  );
  const handle = idempotency();
  const service = getSharedIdempotencyService();
  return { handle, isDone: (req) => service.isHit(req) };
}

function load(build, file) {
  return import(pathToFileURL(resolve(build, 'esm', file)).href);
}
