import { randomUUID } from 'node:crypto';
import { encodeSavedResponse } from '../../src/core/saved-response.ts';
import { MemoryStore } from '../../src/stores/memory.ts';
import { anyResponse, attemptOf } from '../../src/testing/contract-scene.ts';
import { SettableClock } from '../../src/testing/index.ts';

const RECORDS = 20_000;
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
  const owners = Array.from({ length: RECORDS }, () => text(randomUUID()));
  const before = await bytesInUse();
  for (const [n, owner] of owners.entries()) {
    // In many pieces, as `randomUUID` makes it, and shared with nobody.
    const pieces = [...owner].map((character) => text(`${character}0123456789abc`).slice(0, 1));
    const context = { ...anyone, owner: pieces.reduce((whole, piece) => whole + piece) };
    await store.claim(`tenant and operation/${n}`, fingerprint(n), context);
  }
  const pending = ((await bytesInUse()) - before) / RECORDS;
  for (const [n, owner] of owners.entries()) {
    await store.complete(`tenant and operation/${n}`, response, { ...anyone, owner });
  }
  const completed = ((await bytesInUse()) - before) / RECORDS - responseBytes;
  clock.advance(DAY_MS);
  const pruned = await store.prune({ limit: RECORDS });
  const tombstone = ((await bytesInUse()) - before) / RECORDS;
  // Keeps both alive until they were measured.
  return { pending, completed, tombstone, pruned, owners: owners.length };
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
