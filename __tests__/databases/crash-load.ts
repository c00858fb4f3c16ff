import { setTimeout as delay } from 'node:timers/promises';
import type { RecordView } from '../../src/core/store.ts';

/** A server that is killed, and the calls of a store on it; each key is its own owner. */
export interface Crashing {
  readonly claim: (key: string) => Promise<unknown>;
  readonly complete: (key: string) => Promise<unknown>;
  readonly inspect: (key: string) => Promise<RecordView | undefined>;
  readonly server: { kill(): Promise<void>; restart(): Promise<void>; stop(): Promise<void> };
}

type Acknowledged = Map<string, 'claimed' | 'completed'>;

const ACKNOWLEDGED_LEAST = 200;

/** Kills the server under load, starts it again, and counts what it has forgotten. */
export async function crashUnderLoad(
  crashing: Crashing,
): Promise<{ acknowledged: number; lost: number }> {
  const { server, inspect } = crashing;
  const acknowledged: Acknowledged = new Map();
  const workers = Array.from({ length: 16 }, (_, worker) => load(crashing, worker, acknowledged));
  while (acknowledged.size < ACKNOWLEDGED_LEAST) await delay(20);
  await server.kill();
  await Promise.all(workers);
  await server.restart();
  let lost = 0;
  for (const [key, state] of acknowledged) {
    const found = await inspect(key);
    const isThere = found?.owner === key && (state === 'claimed' || found.state === 'completed');
    if (!isThere) lost += 1;
  }
  await server.stop();
  return { acknowledged: acknowledged.size, lost };
}

/** Claims and completes new keys without a pause until the server is gone. */
async function load(
  { claim, complete }: Crashing,
  worker: number,
  acknowledged: Acknowledged,
): Promise<void> {
  for (let n = 0; ; n += 1) {
    const key = `${worker}.${n}`;
    try {
      await claim(key);
      acknowledged.set(key, 'claimed');
      if (n % 3 === 0) continue;
      await complete(key);
      acknowledged.set(key, 'completed');
    } catch {
      return;
    }
  }
}
