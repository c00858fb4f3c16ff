import fc from 'fast-check';
import { recordKey, recordKeyParts } from '../../src/core/record-key.ts';
import { MemoryStore } from '../../src/index.ts';
import {
  done,
  listRecords,
  neverStarted,
  prune,
  type Settlement,
  type SettleOptions,
  settle,
  showRecord,
} from '../../src/operator/index.ts';
import { anyResponse } from '../../src/testing/contract-scene.ts';
import { SettableClock } from '../../src/testing/index.ts';
import { leavePending, leftBy } from './left-pending.ts';

const LEFT = { tenant: 'acme', operation: 'POST /labels', key: 'label-req-7' };
const NOTE = { by: 'operator', reason: 'looked it up' };
const DAY_MS = 86_400_000;

function setup() {
  const clock = new SettableClock();
  return { clock, store: new MemoryStore({ now: clock.now }) };
}

test('a store that cannot list says so at once, and settles by what a record is for', async () => {
  const { store } = setup();
  const recordKey = await leavePending(store, LEFT);
  const sentence = 'Expected a store that offers list, but MemoryStore has no list.';
  expect(() => listRecords(store)).toThrow(sentence);
  const missing = { code: 'capability_missing', message: expect.stringContaining(sentence) };
  await expect(showRecord(store, { reference: '12345678' })).rejects.toMatchObject(missing);
  expect(await showRecord(store, recordKey)).toMatchObject({ ...LEFT, state: 'pending' });
  expect(await settle(store, LEFT, done({ status: 204 }), NOTE)).toBe('settled');
  expect(await showRecord(store, LEFT)).toMatchObject({ response: { status: 204 } });
});

test('what a store lacks is said in one sentence, before anything is asked of it', async () => {
  const bare = { claim: jest.fn(), complete: jest.fn(), release: jest.fn() };
  const lacks = (what: string) => ({
    code: 'capability_missing',
    message: expect.stringContaining(`has no ${what}.`),
  });
  await expect(prune(bare)).rejects.toMatchObject(lacks('prune'));
  await expect(showRecord(bare, LEFT)).rejects.toMatchObject(lacks('inspect'));
  const settling = settle(bare, LEFT, neverStarted(), NOTE);
  await expect(settling).rejects.toMatchObject(lacks('settle and no inspect'));
});

const BAD_NOTES: readonly (readonly [name: string, options: object | undefined])[] = [
  ['nothing', undefined],
  ['no reason', { by: 'operator' }],
  ['an empty reason', { by: 'operator', reason: ' ' }],
  ['a reason that is no text', { by: 'operator', reason: 7 }],
  ['a reason without end', { by: 'operator', reason: 'x'.repeat(1_001) }],
  ['nobody', { reason: 'x' }],
  ['somebody without a name', { by: '', reason: 'x' }],
  ['a name without end', { by: 'x'.repeat(201), reason: 'x' }],
];

test.each(BAD_NOTES)('nothing is settled with %s', async (_name, options) => {
  const { store } = setup();
  await leavePending(store, LEFT);
  const settling = settle(store, LEFT, neverStarted(), options as SettleOptions);
  await expect(settling).rejects.toMatchObject({ code: 'option_invalid' });
  expect(await showRecord(store, LEFT)).toMatchObject({ state: 'pending' });
});

test('nothing is settled by what is no settlement', async () => {
  const { store } = setup();
  await leavePending(store, LEFT);
  const unsendable = { ...done({ status: 200 }).response, status: 150 };
  const notSent = (['done', 'unknown'] as const).map((kind) => ({ kind, response: unsendable }));
  for (const bad of [undefined, 'done', { kind: 'freed' }, { kind: 'done' }, done, ...notSent]) {
    const settling = settle(store, LEFT, bad as Settlement, NOTE);
    await expect(settling).rejects.toMatchObject({ code: 'option_invalid' });
  }
  expect(await showRecord(store, LEFT)).toMatchObject({ state: 'pending' });
});

test('a name that names nothing is refused', async () => {
  const { store } = setup();
  const names = ['', {}, { key: '' }, { reference: '1234567' }, { reference: 'zzzzzzzz' }, null];
  for (const name of names) {
    const showing = showRecord(store, name as string);
    await expect(showing).rejects.toMatchObject({ code: 'option_invalid' });
  }
  expect.assertions(names.length);
});

test('pruning goes on until nothing is left of it, and leaves what is pending', async () => {
  const { clock, store } = setup();
  await leavePending(store, LEFT);
  for (let n = 0; n < 7; n += 1) {
    const context = leftBy({ key: `k${n}` });
    await store.claim(context.recordKey, 'f', context);
    await store.complete(context.recordKey, anyResponse(), context);
  }
  clock.advance(DAY_MS);
  expect(await prune(store, { batchSize: 2, signal: AbortSignal.abort() })).toBe(0);
  expect(await prune(store, { batchSize: 2 })).toBe(7);
  expect(await prune(store)).toBe(0);
  expect(await showRecord(store, 'k0')).toMatchObject({ state: 'tombstone' });
  expect(await showRecord(store, LEFT)).toMatchObject({ state: 'pending' });
});

test('a record key can be read back as what it was made of', () => {
  const name = fc.option(fc.string({ minLength: 1, unit: 'binary' }), { nil: undefined });
  const key = fc.stringMatching(/^[\x21-\x7e]{1,40}$/);
  fc.assert(
    fc.property(name, name, key, (tenant, operation, one) => {
      const parts = { tenant, operation, key: one };
      expect(recordKeyParts(recordKey(tenant, operation, one))).toEqual(parts);
    }),
  );
});
