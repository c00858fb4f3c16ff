import express from 'express';
import { IdempotencyError, idempotent, MemoryStore } from '../../src/index.ts';
import { FaultyStore } from '../../src/testing/index.ts';
import { serve } from './served.ts';

describe('claims that fail', () => {
  async function setup(warn?: (message: string) => void) {
    const warnings: string[] = [];
    const store = new FaultyStore(new MemoryStore());
    const app = express();
    app.set('env', 'test');
    const protect = idempotent(store, { warn: warn ?? ((message) => warnings.push(message)) });
    app.post('/labels', protect, (_req, res) => {
      res.sendStatus(201);
    });
    const server = await serve(app);
    const askWith = async (error: unknown) => {
      store.claim = async () => {
        throw error;
      };
      return (await server.ask({ key: 'secret-key' })).status;
    };
    return { warnings, server, askWith };
  }

  test('are warned of once for each code, with the message of the store', async () => {
    const { warnings, server, askWith } = await setup();
    const closed = new IdempotencyError('store_closed', 'Closed. Open it.');
    const unmigrated = new IdempotencyError('store_not_migrated', 'Call migrate().');
    const asked = [await askWith(closed), await askWith(closed), await askWith(unmigrated)];
    expect(asked).toEqual([503, 503, 503]);
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain('free: store_closed: Closed. Open it. Such requests');
    expect(warnings[1]).toContain('store_not_migrated: Call migrate().');
    await server[Symbol.asyncDispose]();
  });

  test('with errors of others are warned of once, and by their name only', async () => {
    const { warnings, server, askWith } = await setup();
    await askWith(new TypeError('insert of secret-key failed'));
    await askWith(new RangeError('again'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('an error of another kind, TypeError.');
    expect(warnings[0]).not.toContain('secret-key');
    await server[Symbol.asyncDispose]();
  });

  test.each([
    ['a string', 'secret-key'],
    ['an error that is named after a key', Object.assign(new Error(), { name: 'a secret-key' })],
  ])('with %s show nothing of it', async (_, thrown) => {
    const { warnings, server, askWith } = await setup();
    await askWith(thrown);
    expect(warnings[0]).toContain('an error of another kind, without a name.');
    expect(warnings[0]).not.toContain('secret-key');
    await server[Symbol.asyncDispose]();
  });

  test('are answered as they are where warn itself throws', async () => {
    const { server, askWith } = await setup(() => {
      throw new Error('no warnings today');
    });
    expect(await askWith(new IdempotencyError('store_closed', 'Closed.'))).toBe(503);
    await server[Symbol.asyncDispose]();
  });
});
