import type { RequestHandler } from 'express';
import {
  type IdempotencyOptions,
  neverStarted,
  type RunningAttempt,
  transactional,
} from '../../src/index.ts';
import type { SqliteHandle } from '../../src/stores/sqlite/index.ts';
import { sqliteDriver } from '../contract/sqlite/driver.ts';
import { EXPRESS_VERSIONS } from '../http/express-versions.ts';
import { gate, until } from '../http/gate.ts';
import { endAll, LEASE_MS, PENDING, recoveryApp, said, sqliteStore } from './recovery-app.ts';

const MADE = { status: 201, headers: { ETag: ['"a"', '"b"'] }, body: { made: true } };
const BODY = '{"made":true}';

describe.each(EXPRESS_VERSIONS)(
  'writes and answer in one SQLite transaction, under %s',
  (_, framework) => {
    afterEach(endAll);

    async function setup(handlers: RequestHandler[], options: IdempotencyOptions = {}) {
      const recovery = transactional();
      const whole = { recovery, ...options };
      const app = await recoveryApp(framework, sqliteStore, whole, handlers);
      const labels: string[] = [];
      const insert = (attempt: RunningAttempt | undefined, name: string) =>
        attempt?.commitSync((tx) => {
          (tx as SqliteHandle).exec('CREATE TABLE IF NOT EXISTS labels (name TEXT)');
          (tx as SqliteHandle).prepare('INSERT INTO labels VALUES (?)').run(name as never);
          const rows = (tx as SqliteHandle).prepare('SELECT name FROM labels').all();
          labels.splice(0, labels.length, ...rows.map((row) => String((row as Row).name)));
          return MADE;
        });
      return { ...app, labels, insert };
    }
    type Row = { readonly name: unknown };

    test('are kept together, sent and replayed', async () => {
      const { ask, runs, labels, insert } = await setup([(req) => insert(req.idempotency, 'one')]);
      const first = await ask();
      expect(said(first)).toEqual([201, BODY]);
      expect(await ask()).toEqual(first);
      expect([labels, runs.length]).toEqual([['one'], 1]);
    });

    test('are neither kept when the function throws, and the key is free', async () => {
      const { ask, runs, labels, insert } = await setup([
        (req) =>
          req.idempotency?.commitSync((tx) => {
            (tx as SqliteHandle).exec('CREATE TABLE labels (name TEXT)');
            throw new Error('constraint');
          }),
        (req) => insert(req.idempotency, 'two'),
      ]);
      const failed = await ask();
      expect(failed.status).toBe(500);
      expect(failed.body).toContain('constraint');
      expect(said(await ask())).toEqual([201, BODY]);
      expect(labels).toEqual(['two']);
      expect(runs.map(({ attempt }) => attempt)).toEqual([1, 1]);
    });

    test('are not kept by a function that answers a promise; the key stays pending', async () => {
      const { ask, runs } = await setup([
        (req) => req.idempotency?.commitSync((async () => MADE) as never),
      ]);
      const failed = await ask();
      expect(failed.status).toBe(500);
      expect(failed.body).toContain('got a promise');
      expect(said(await ask())).toEqual(PENDING);
      expect(runs).toHaveLength(1);
    });

    test('are run again after a process that was stopped, which then keeps nothing', async () => {
      const wake = gate();
      const { ask, clock, runs, labels, insert } = await setup([
        (req, _res, next) => {
          wake.opened.then(() => insert(req.idempotency, 'stopped')).catch(next);
        },
        (req) => insert(req.idempotency, 'second'),
      ]);
      const stopped = ask();
      await until(() => runs.length === 1);
      expect(said(await ask())).toEqual(PENDING);
      clock.advance(LEASE_MS);
      const second = await ask();
      expect(said(second)).toEqual([201, BODY]);
      wake.open();
      expect(await stopped).toEqual(second);
      expect(labels).toEqual(['second']);
      expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2]);
    });

    test('are refused after an answer, a second time, and in a handler that has no transaction', async () => {
      const codes: unknown[] = [];
      const codeOf = (run: () => unknown) => {
        try {
          run();
        } catch (error) {
          codes.push((error as { code?: unknown }).code);
        }
      };
      const { ask, labels, insert } = await setup([
        (req, res) => {
          codeOf(() => req.idempotency?.tx);
          insert(req.idempotency, 'one');
          codeOf(() => insert(req.idempotency, 'two'));
          codeOf(() => res.setHeader('X-Late', '1'));
        },
        (req, res) => {
          res.status(202).send('accepted');
          codeOf(() => insert(req.idempotency, 'three'));
        },
      ]);
      expect(said(await ask())).toEqual([201, BODY]);
      expect(said(await ask('other'))).toEqual([202, 'accepted']);
      expect(codes).toEqual([
        'transaction_over',
        'already_answered',
        'ERR_HTTP_HEADERS_SENT',
        'already_answered',
      ]);
      expect(labels).toEqual(['one']);
    });

    test('are nothing that an answer by itself needs: it is saved, or frees the key', async () => {
      const { ask, runs } = await setup([
        (_req, res) => void res.status(404).send('no such parcel'),
        (_req, res) => void res.status(503).send('down'),
        (_req, _res, next) => next(neverStarted(new Error('down'))),
        (_req, res) => void res.destroy(),
        (_req, res) => void res.status(201).send('made'),
      ]);
      expect(said(await ask())).toEqual([404, 'no such parcel']);
      expect(said(await ask())).toEqual([404, 'no such parcel']);
      expect(said(await ask('other'))).toEqual([503, 'down']);
      expect((await ask('other')).status).toBe(500);
      await expect(ask('other')).rejects.toThrow();
      expect(said(await ask('other'))).toEqual([201, 'made']);
      expect(runs).toHaveLength(5);
    });
  },
);

test('SQLite is there, so that none of this is passed over', () => {
  expect(sqliteDriver('node:sqlite') ?? sqliteDriver('better-sqlite3-12')).toBeDefined();
});
