import express from 'express';
import { type Claim, type IdempotencyEvent, idempotent } from '../../src/index.ts';
import { type SettleAnswer, type Settlement, settle } from '../../src/operator/index.ts';
import { callOf } from '../../src/testing/contract-scene.ts';
import type { SettableClock, StoreUnderTest } from '../../src/testing/index.ts';
import { hearOwn } from '../core/own-events.ts';
import { type Answered, serve, withoutDate } from '../http/served.ts';
import { type Left, leftBy } from './left-pending.ts';

export const LEASE_MS = 60_000;
export const LEFT = { tenant: 'acme', operation: 'POST /labels', key: 'label-req-7' };
export const LEASED = { ...LEFT, leaseMs: LEASE_MS };
export const NOTE = { by: 'operator', reason: 'the label is on the parcel' };
export const LABEL = {
  status: 201,
  headers: { 'Content-Type': 'application/json', ETag: ['"label-901-v1"', '"backup"'] },
  body: Buffer.from('{"label_id": "label-901"}\n'),
};

/** An empty store, a clock to move, and whoever listens to settlements. */
export class OperatorScene {
  readonly clock: SettableClock;
  readonly store: StoreUnderTest;
  readonly heard: IdempotencyEvent[] = [];
  readonly #ends: (() => unknown)[] = [];

  constructor(clock: SettableClock, store: StoreUnderTest, close: () => unknown) {
    this.clock = clock;
    this.store = store;
    this.#ends.push(
      close,
      hearOwn((event) => this.heard.push(event), ['settled']),
    );
  }

  claim(left: Left): Promise<Claim> {
    const context = leftBy(left);
    return this.store.claim(context.recordKey, 'f', context, callOf());
  }

  settle(settlement: Settlement, force = false): Promise<SettleAnswer> {
    return settle(this.store, LEFT, settlement, { ...NOTE, force });
  }

  /** An app whose handler acts and then fails: what it leaves is pending. */
  async failingApp(): Promise<{ ask(): Promise<Answered>; runs(): number }> {
    let runs = 0;
    const app = express();
    app.post('/labels', idempotent(this.store, { tenant: () => 'acme' }), (_req, res) => {
      runs += 1;
      res.status(500).send('the printer is gone');
    });
    const served = await serve(app);
    this.#ends.push(() => served[Symbol.asyncDispose]());
    const ask = async () => withoutDate(await served.ask({ key: LEFT.key }));
    expect((await ask()).status).toBe(500);
    expect(await ask()).toMatchObject({ status: 409, body: '{"error":"request_pending"}' });
    return { ask, runs: () => runs };
  }

  async end(): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
  }
}
