import express from 'express';
import {
  FencedError,
  type IdempotencyEvent,
  type IdempotencyOptions,
  idempotent,
  MemoryStore,
} from '../../src/index.ts';
import { FaultyStore } from '../../src/testing/index.ts';
import { hearOwn } from '../core/own-events.ts';
import { until } from './gate.ts';
import { type Served, serve } from './served.ts';

describe('what can be observed', () => {
  const served: Served[] = [];
  const seen: IdempotencyEvent[] = [];
  let end: () => void;
  const names = () => seen.map((event) => event.name).join(' ');
  beforeEach(() => {
    seen.length = 0;
    end = hearOwn((event) => seen.push(event));
  });
  afterEach(async () => {
    end();
    for (const each of served.splice(0)) await each[Symbol.asyncDispose]();
  });

  async function setup(options: IdempotencyOptions = {}, status = 201) {
    let nowMs = 0;
    const store = new FaultyStore(new MemoryStore({ now: () => nowMs }));
    const app = express().use(express.json());
    app.post('/labels', idempotent(store, options), (_req, res) => {
      res.status(status).send('secret-body');
    });
    const server = await serve(app);
    served.push(server);
    const ask = (body = '{"secret":"secret-body"}') =>
      server.ask({
        key: 'secret-key',
        body,
        headers: { Cookie: 'secret-cookie', 'Content-Type': 'application/json' },
      });
    const moveTo = (ms: number) => {
      nowMs = ms;
    };
    return { ask, store, moveTo };
  }

  test('a new request and its retry', async () => {
    const { ask } = await setup();
    await ask();
    await ask();
    expect(names()).toBe('claimed completed replayed');
    expect(seen[1]).toEqual({
      name: 'completed',
      recordId: expect.stringMatching(/^[0-9a-f]{64}$/),
      operation: 'POST /labels',
      attempt: 1,
      status: 201,
    });
  });

  test('a conflict, a result that is expired, a refusal', async () => {
    let admission: 0 | 429 = 429;
    const { ask, moveTo } = await setup({ admit: () => admission });
    await ask();
    admission = 0;
    await ask();
    await ask('{}');
    moveTo(86_400_000);
    await ask();
    expect(names()).toBe('claimed released refused claimed completed conflict expired');
  });

  test('an outcome that is none, and the retry that meets it', async () => {
    const { ask } = await setup({}, 502);
    await ask();
    await ask();
    expect(names()).toBe('claimed left-pending pending');
    expect(seen[1]?.status).toBe(502);
  });

  test('a claim that fails, with the error of the store', async () => {
    const { ask, store } = await setup({ storeTimeoutMs: 500 });
    const error = new Error('the database is down');
    store.inject('claim', { kind: 'reject', error });
    await ask();
    await until(() => seen.length === 3);
    expect(names()).toBe('claim-failed released released');
    expect(seen[0]?.error).toBe(error);
  });

  test('a save that fails, is told as unsaved and comes through later', async () => {
    const { ask, store } = await setup({ saveTimeoutMs: 100 });
    store.inject('complete', { kind: 'reject' }, { times: 3 });
    await ask();
    await until(() => seen.some((event) => event.name === 'completed'));
    expect(names()).toMatch(/^claimed save-failed( save-failed| unsaved){2,3} completed$/);
    expect(names()).toContain('unsaved');
  });

  test('an answer that is too large to keep, and an attempt that is superseded', async () => {
    const { ask } = await setup({ maxResponseBytes: 3 });
    await ask();
    expect(names()).toBe('claimed not-kept');
    seen.length = 0;
    const other = await setup();
    other.store.inject('complete', { kind: 'reject', error: new FencedError() });
    await other.ask();
    expect(names()).toBe('claimed superseded');
  });

  test('never holds a key, a body or a header value', async () => {
    const { ask, store } = await setup();
    store.inject('complete', { kind: 'reject' });
    await ask();
    await ask();
    await ask('{"other":"secret-body"}');
    expect(seen.length).toBeGreaterThan(3);
    const told = JSON.stringify(seen, (_, value) => (value instanceof Error ? value.stack : value));
    expect(told).not.toContain('secret');
  });
});
