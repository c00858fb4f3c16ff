import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { IdempotencyStore } from '../../src/core/store.ts';
import { attemptOf, within } from './calls.ts';

/** What a process of its own is to claim. It says when it is ready, and waits for a line. */
export interface ClaimTask {
  /** Where the store is: a URL, or a port. */
  readonly place: string;
  readonly name: string;
  readonly keys: number;
  readonly parallel: number;
}

/**
 * The main program of such a process: claims all keys at once, each several times, and says what it
 * was answered.
 */
export async function claimAll(open: (place: string) => IdempotencyStore): Promise<void> {
  const { place, name, keys, parallel }: ClaimTask = JSON.parse(process.argv.at(-1) ?? '');
  const store = open(place);
  const claim = (owner: string, key: string) =>
    store.claim(key, 'f', attemptOf(owner), within(60_000));
  await claim(name, `of ${name} alone, to be connected`);
  writeSync(1, 'ready\n');
  await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
  const claims = Array.from({ length: keys * parallel }, async (_, n) => {
    const { kind } = await claim(`${name}/${n}`, `key ${n % keys}`);
    return `${n % keys} ${kind}`;
  });
  writeSync(1, `${JSON.stringify(await Promise.all(claims))}\n`);
  process.exit(0);
}
