import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { idempotent, transactional } from '../../../../src/index.ts';
import { PostgresStore, pgTransactions } from '../../../../src/stores/postgres/index.ts';
import { PostgresServer } from '../../servers/postgres.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

/** An application whose handler writes a label and then does what `finish` says. */
async function setup() {
  const pool = server.pool();
  await pool.query(`drop table if exists
                      idempotency_records, idempotency_records_migrations, labels;
                    create table labels (id serial, name text)`);
  const store = new PostgresStore({ client: pool });
  await store.migrate();
  const recovery = transactional(pgTransactions(pool));
  let finish: RequestHandler = (_req, res) => void res.status(201).json({ made: true });
  const app = express();
  app.post('/labels', idempotent(store, { recovery }), async (req, res, next) => {
    await recovery.tx(req).query("insert into labels (name) values ('made')");
    await finish(req, res, next);
  });
  const answerError: ErrorRequestHandler = (error, _req, res, _next) => {
    res.status(500).json({ failed: error.message });
  };
  app.use(answerError);
  const listening = app.listen(0);
  const { port } = listening.address() as AddressInfo;
  const post = async () => {
    const headers = { 'Idempotency-Key': 'label-req-7' };
    const answer = await fetch(`http://127.0.0.1:${port}/labels`, { method: 'POST', headers });
    return [answer.status, await answer.text()] as const;
  };
  const labels = async () => (await pool.query('select name from labels')).rows.length;
  const close = () => {
    listening.closeAllConnections();
    listening.close();
  };
  return {
    ...{ pool, recovery, post, labels, close },
    finishBy: (handler: RequestHandler) => {
      finish = handler;
    },
  };
}

test('a label and its answer are committed together, and the answer is replayed', async () => {
  const { post, labels, close } = await setup();
  expect(await post()).toEqual([201, '{"made":true}']);
  expect(await post()).toEqual([201, '{"made":true}']);
  expect(await labels()).toBe(1);
  close();
});

test('a handler that throws undoes its label, and a retry may make it', async () => {
  const { post, labels, close, finishBy } = await setup();
  finishBy(() => {
    throw new Error('the printer is on fire');
  });
  expect(await post()).toEqual([500, '{"failed":"the printer is on fire"}']);
  expect(await labels()).toBe(0);
  finishBy((_req, res) => void res.status(201).json({ made: true }));
  expect(await post()).toEqual([201, '{"made":true}']);
  expect(await labels()).toBe(1);
  close();
});

test('a success after a failed statement that was kept quiet is not told to the client', async () => {
  const { post, labels, close, finishBy, recovery } = await setup();
  finishBy(async (req, res) => {
    await recovery
      .tx(req)
      .query('select 1 / 0')
      .catch(() => {});
    res.status(201).json({ made: true });
  });
  const [status] = await post();
  expect(status).toBeGreaterThanOrEqual(500);
  expect(await labels()).toBe(0);
  finishBy((_req, res) => void res.status(201).json({ made: true }));
  expect(await post()).toEqual([201, '{"made":true}']);
  close();
});

test('twenty requests with one key at once make one label', async () => {
  const { post, labels, close } = await setup();
  const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await post())[0]));
  expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([]);
  expect(statuses).toContain(201);
  expect(await labels()).toBe(1);
  close();
});
