import express from 'express';
import { idempotent, MemoryStore } from '../../src/index.ts';
import { serve } from './served.ts';

const WARNED = Symbol.for('express-idempotent.warned-of-shared-keys');

describe('callers that identify themselves without a tenant option', () => {
  async function setup(options: object = {}) {
    Reflect.deleteProperty(globalThis, WARNED);
    const warnings: string[] = [];
    const warn = (message: string) => warnings.push(message);
    const app = express();
    const protect = idempotent(new MemoryStore(), { warn, ...options });
    app.post('/labels', protect, (_req, res) => {
      res.sendStatus(201);
    });
    return { warnings, server: await serve(app) };
  }

  test.each(['Authorization', 'Cookie'])('are warned of once a process, for %s', async (name) => {
    const { warnings, server } = await setup();
    await server.ask({ key: 'a' });
    expect(warnings).toEqual([]);
    await server.ask({ key: 'b', headers: { [name]: 'secret' } });
    await server.ask({ key: 'c', headers: { [name]: 'secret' } });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('all callers share their idempotency keys');
    expect(warnings[0]).not.toContain('secret');
    await server[Symbol.asyncDispose]();
  });

  test('are not warned of with one', async () => {
    const { warnings, server } = await setup({ tenant: () => 'all' });
    await server.ask({ key: 'a', headers: { Cookie: 'c' } });
    expect(warnings).toEqual([]);
    await server[Symbol.asyncDispose]();
  });

  test('are warned of through the process where no warn is given', async () => {
    const { server } = await setup({ warn: undefined });
    const emit = jest.spyOn(process, 'emitWarning').mockImplementation();
    await server.ask({ key: 'a', headers: { Cookie: 'c' } });
    expect(emit).toHaveBeenCalledWith(expect.any(String), { type: 'IdempotencyWarning' });
    emit.mockRestore();
    await server[Symbol.asyncDispose]();
  });
});
