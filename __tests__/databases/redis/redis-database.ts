import type { Redis } from 'ioredis';
import { recordKeyDigest } from '../../../src/core/record-key.ts';
import type { Attempt, StoreCall } from '../../../src/core/store.ts';
import { globbed } from '../../../src/stores/redis/globbed.ts';
import { type RedisClient, RedisStore } from '../../../src/stores/redis/index.ts';
import type { SettableClock, StoreUnderTest } from '../../../src/testing/index.ts';
import type { ContractDatabase } from '../../contract/describe-contract.ts';

/** How the stores of a contract reach one server or cluster. */
export interface RedisAccess {
  /** A client of its own for each store. */
  readonly newClient: () => Promise<RedisClient>;
  /** For what the contract does past the stores: a client of every primary. */
  readonly primaries: readonly Redis[];
  /** What the clients of the stores put before every key. */
  readonly keyPrefix?: string;
}

let databases = 0;

/** A prefix of its own; every store has a client of its own. */
export async function redisDatabase(
  { newClient, primaries, keyPrefix = '' }: RedisAccess,
  clock: SettableClock,
): Promise<ContractDatabase> {
  databases += 1;
  const prefix = `records-${databases}:`;
  const lives = new KeyLives(primaries, keyPrefix + prefix, clock);
  const makeStore = async () => {
    const client = await newClient();
    const store = new RedisStore({ client, prefix, now: clock.now, acceptDataLoss: true });
    return livingBy(lives, store);
  };
  const overwriteSaved = async (key: string, head: string, body: Uint8Array) => {
    const name = `${keyPrefix}${prefix}b:{${recordKeyDigest(key).toString('base64url')}}`;
    const bytes = Buffer.concat([Buffer.of(1, 0, 0, 0, 0), Buffer.from(head), body]);
    bytes.writeUInt32BE(Buffer.byteLength(head), 1);
    for (const primary of primaries) {
      const done = await primary.set(name, bytes, 'KEEPTTL', 'XX').catch(() => null);
      if (done === 'OK') return;
    }
    throw new Error('There is no completed record to overwrite.');
  };
  return { makeStore: Object.assign(makeStore, { overwriteSaved }), close: async () => {} };
}

/**
 * Ends keys by the clock of a test: what is written gets its end from the TTL that the store gave
 * it, is kept from ending by itself, and is deleted when the clock has come there.
 */
class KeyLives {
  readonly #primaries: readonly Redis[];
  readonly #pattern: string;
  readonly #clock: SettableClock;
  readonly #endsAtMs = new Map<string, number>();
  #nowMs: number;

  constructor(primaries: readonly Redis[], prefix: string, clock: SettableClock) {
    this.#primaries = primaries;
    this.#pattern = `${globbed(prefix)}*`;
    this.#clock = clock;
    this.#nowMs = clock.now();
  }

  get isBehind(): boolean {
    return this.#clock.now() !== this.#nowMs;
  }

  /** What was written since the last time was written when the clock stood where it stood then. */
  async catchUp(): Promise<void> {
    const nowMs = this.#clock.now();
    const writtenAtMs = this.#nowMs;
    this.#nowMs = nowMs;
    for (const primary of this.#primaries) {
      for (const key of await primary.keys(this.#pattern)) {
        const ttlMs = await primary.pttl(key);
        if (ttlMs > 0) {
          // Whole seconds: what is missing has passed since it was written.
          this.#endsAtMs.set(key, writtenAtMs + Math.ceil(ttlMs / 1_000) * 1_000);
          await primary.persist(key);
        }
        if (nowMs >= (this.#endsAtMs.get(key) ?? Number.POSITIVE_INFINITY)) {
          this.#endsAtMs.delete(key);
          await primary.del(key);
        }
      }
    }
  }
}

/** The same store; the keys catch up with the clock before each call. */
function livingBy(lives: KeyLives, store: RedisStore): StoreUnderTest {
  const after = <T>(call: () => Promise<T>): Promise<T> =>
    lives.isBehind ? lives.catchUp().then(call) : call();
  return {
    claim: (key: string, fingerprint: string, context: Attempt, call: StoreCall) =>
      after(() => store.claim(key, fingerprint, context, call)),
    complete: (key, response, context, call) =>
      after(() => store.complete(key, response, context, call)),
    release: (key, context, call) => after(() => store.release(key, context, call)),
    inspect: (key, call) => after(() => store.inspect(key, call)),
    list: (options) => after(() => store.list(options)),
    renew: (key, leaseMs, context, call) => after(() => store.renew(key, leaseMs, context, call)),
    takeOver: (key, fingerprint, context, options, call) =>
      after(() => store.takeOver(key, fingerprint, context, options, call)),
    settle: (key, settlement, note, options, call) =>
      after(() => store.settle(key, settlement, note, options, call)),
  };
}
