// One record, as the store is given it and as one would write it by hand: the same bytes.
import { createHash, randomUUID } from 'node:crypto';

export const RESPONSE = {
  kept: true,
  status: 201,
  headers: [
    ['Content-Type', 'application/json'],
    ['Location', '/labels/label-901'],
    ['ETag', '"label-901-v1"'],
    ['ETag', '"backup"'],
    ['X-Trace', 't'.repeat(120)],
  ],
  removedNames: [],
  body: Buffer.from(JSON.stringify({ label: 'l'.repeat(360) })),
};

/** Encoded once, ahead of time, for the raw driver; the store encodes every response. */
export const HEAD = JSON.stringify({ v: 1, ...RESPONSE, kept: undefined, body: undefined });
export const FINGERPRINT = createHash('sha256').update('request').digest('hex');

/** What the rows of a filled table are found by. */
export const FILLED_KEY = 'filled ';

export const idOf = (key) => createHash('sha256').update(key).digest();

const { signal } = new AbortController();
const call = { timeoutMs: 60_000, signal };

export async function claim(store, key, context = contextOf(key)) {
  const { kind } = await store.claim(key, FINGERPRINT, context, call);
  return kind;
}

/** Claim and complete. @throws when the key was not a new one: something else was measured. */
export async function write(store, key) {
  const context = contextOf(key);
  const kind = await claim(store, key, context);
  if (kind !== 'new') throw new Error(`A new key was answered ${kind}.`);
  await store.complete(key, RESPONSE, context, call);
}

export async function replay(store, key) {
  const kind = await claim(store, key);
  if (kind !== 'replay') throw new Error(`A key that is completed was answered ${kind}.`);
}

function contextOf(key) {
  return {
    key,
    recordKey: key,
    tenant: undefined,
    operation: 'POST /labels',
    fingerprint: FINGERPRINT,
    owner: randomUUID(),
    attempt: 1,
    signal,
  };
}

let keys = 0;
let isStopped = false;

/** From now on there are no new keys, so that whatever is measured comes to its end. */
export function stop() {
  isStopped = true;
}

export function newKey() {
  if (isStopped) throw new Error('Stopped.');
  keys += 1;
  return `key ${process.pid} ${keys}`;
}
