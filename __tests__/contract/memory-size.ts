import { encodeSavedResponse } from '../../src/core/saved-response.ts';
import { NODE_RUNTIME } from '../../src/express/node-runtime.ts';
import { MemoryStore } from '../../src/stores/memory.ts';
import { anyResponse, attemptOf } from '../../src/testing/contract-scene.ts';
import { SettableClock } from '../../src/testing/index.ts';

const RECORDS = 20_000;
const OWNER_CHARACTERS = NODE_RUNTIME.newOwner().length;
const DAY_MS = 24 * 3_600_000;

// Prints how many bytes a record takes beyond the bytes of its saved response, in each state.
void main();

async function main(): Promise<void> {
  // The first round is for what is made once: code, pools, the growth of the heap.
  await measure();
  console.log(JSON.stringify(await measure()));
}

async function measure(): Promise<object> {
  const clock = new SettableClock();
  const store = new MemoryStore({ now: clock.now });
  const response = anyResponse('{"state":"created"}'.repeat(20));
  const responseBytes = encodeSavedResponse(response).byteLength;
  const anyone = attemptOf('anyone');
  // Copies, made room for beforehand: what counts is the string that the store keeps.
  const owners = Buffer.alloc(RECORDS * OWNER_CHARACTERS);
  const before = await bytesInUse();
  for (let n = 0; n < RECORDS; n += 1) {
    const owner = NODE_RUNTIME.newOwner();
    owners.write(owner, n * OWNER_CHARACTERS, 'latin1');
    await store.claim(recordKey(n), fingerprint(n), { ...anyone, owner });
  }
  const pending = ((await bytesInUse()) - before) / RECORDS;
  for (let n = 0; n < RECORDS; n += 1) {
    const start = n * OWNER_CHARACTERS;
    const owner = owners.toString('latin1', start, start + OWNER_CHARACTERS);
    await store.complete(recordKey(n), response, { ...anyone, owner });
  }
  const completed = ((await bytesInUse()) - before) / RECORDS - responseBytes;
  clock.advance(DAY_MS);
  const pruned = await store.prune({ limit: RECORDS });
  const tombstone = ((await bytesInUse()) - before) / RECORDS;
  // Keeps both alive until they were measured.
  return { pending, completed, tombstone, pruned, owners: owners.length };
}

function recordKey(n: number): string {
  return `tenant and operation/${n}`;
}

function fingerprint(n: number): string {
  return text(`v1:${n.toString(16).padStart(64, '0')}`);
}

/** A string of its own, in one piece. */
function text(parts: string): string {
  return Buffer.from(parts).toString();
}

async function bytesInUse(): Promise<number> {
  for (let n = 0; n < 4; n += 1) {
    global.gc?.();
    await new Promise(setImmediate);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
