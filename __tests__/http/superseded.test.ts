import express from 'express';
import { FencedError, idempotent, MemoryStore, type RecordView } from '../../src/index.ts';
import { FaultyStore } from '../../src/testing/index.ts';
import { type Served, serve, valuesOf } from './served.ts';

const served: Served[] = [];
afterEach(async () => {
  for (const each of served.splice(0)) await each[Symbol.asyncDispose]();
});

const WINNER = {
  kept: true,
  status: 201,
  headers: [['X-Label', 'label-902']],
  removedNames: [],
  body: Buffer.from('made by the winner'),
} as const;

/** An attempt whose save is fenced, on a store that says this of the record. */
async function setup(found: Partial<RecordView> | undefined) {
  const store = new FaultyStore(new MemoryStore());
  store.inject('complete', { kind: 'reject', error: new FencedError() });
  const inspect = async () => (found === undefined ? undefined : { fingerprint: 'f', ...found });
  Object.assign(store, { inspect });
  const app = express().set('env', 'test');
  app.post('/labels', idempotent(store, { fingerprint: () => 'f' }), (_req, res) => {
    res.setHeader('X-Label', 'label-901').send('made by the loser');
  });
  const server = await serve(app);
  served.push(server);
  return server.ask({ key: 'k' });
}

test("a superseded attempt sends the winner's result, and nothing of its own", async () => {
  const answered = await setup({ state: 'completed', response: WINNER });
  expect([answered.status, answered.body]).toEqual([201, 'made by the winner']);
  expect(valuesOf(answered, 'X-Label')).toEqual(['label-902']);
});

test.each<[string, Partial<RecordView> | undefined, string]>([
  ['has no record', undefined, 'request_pending'],
  ['has a pending one', { state: 'pending' }, 'request_pending'],
  ['has one of another request', { state: 'pending', fingerprint: 'g' }, 'idempotency_conflict'],
  ['has a tombstone', { state: 'tombstone' }, 'idempotency_result_expired'],
  [
    'has an answer that was not kept',
    { state: 'completed', response: { kept: false, status: 200 } },
    'response_not_kept',
  ],
])('a superseded attempt says what a store says that %s', async (_, found, error) => {
  const answered = await setup(found);
  expect([answered.status, answered.body]).toEqual([409, `{"error":"${error}"}`]);
  expect(valuesOf(answered, 'X-Label')).toEqual([]);
});
