import { IdempotencyError } from '../../core/errors.ts';
import type { StoreCall } from '../../core/store.ts';
import { Lanes } from '../lanes.ts';
import type { RedisArgument } from './client.ts';
import type { RedisLink, ScriptCall, WaitedReply } from './link.ts';
import type { RecordCall, RecordKeys, RecordScript } from './record-script.ts';
import { errorWordOf, toIdempotencyError } from './redis-error.ts';
import { timedOut, within } from './within.ts';

export interface SessionSettings {
  /** How many replicas must have a promise before it is given; 0 asks none. */
  readonly waitReplicas: number;
  readonly waitReplicasTimeoutMs: number;
  /** In place of the server's clock, for tests. */
  readonly now: (() => number) | undefined;
}

/**
 * Runs scripts on records, each call with its deadline. Calls that wait go out as one script where
 * the server allows it: a cluster takes only keys of one slot, so there each record goes by itself.
 */
export class RedisSession {
  readonly link: RedisLink;
  readonly #settings: SessionSettings;
  readonly #lanes = new Map<RecordScript, Lanes<Item, Answer>>();
  #mayGather: boolean;

  constructor(link: RedisLink, settings: SessionSettings) {
    this.link = link;
    this.#settings = settings;
    this.#mayGather = !link.isCluster;
  }

  /**
   * The reply for one record, by the deadline of `call` at the latest.
   *
   * @throws {IdempotencyError}
   */
  async run(
    script: RecordScript,
    keys: RecordKeys,
    call: RecordCall,
    deadline: StoreCall,
  ): Promise<unknown> {
    if (deadline.signal.aborted) throw timedOut(script.name, 'before it was sent');
    const item = { keys, ...call, endMs: performance.now() + deadline.timeoutMs };
    try {
      const sent = this.#mayGather ? this.#lanesOf(script).send(item) : this.#one(script, item);
      const { reply, isKept } = await within(script.name, deadline, sent);
      if (isError(reply)) throw reply;
      if (isKept) return reply;
    } catch (error) {
      throw toIdempotencyError(error, script.name);
    }
    throw notReplicated(script, this.#settings.waitReplicas);
  }

  #lanesOf(script: RecordScript): Lanes<Item, Answer> {
    let lanes = this.#lanes.get(script);
    if (lanes === undefined) {
      lanes = new Lanes({
        ...LANE_LIMITS,
        sendOne: (item) => this.#one(script, item),
        sendMany: (items) => this.#many(script, items),
        mayConcernOne: (error) => this.#isOfManySlots(error),
        bytesOf: ({ bytes }) => bytes,
      });
      this.#lanes.set(script, lanes);
    }
    return lanes;
  }

  async #one(script: RecordScript, item: Item): Promise<Answer> {
    const [answer] = await this.#many(script, [item]);
    if (answer === undefined) throw new Error('Redis answered for no record.');
    return answer;
  }

  async #many(script: RecordScript, items: readonly Item[]): Promise<Answer[]> {
    const { waitReplicas, now } = this.#settings;
    const keys: string[] = [];
    const args: RedisArgument[] = [
      waitReplicas > 0 ? '1' : '0',
      now === undefined ? '' : `${now()}`,
    ];
    for (const item of items) {
      keys.push(item.keys.state, item.keys.body);
      args.push(...item.args);
    }
    const call = { script: script.script, keys, args };
    const { reply, replicas } = await this.#send({ ...call, by: 'name' }, items).catch(
      (error: unknown) => {
        // Sent again only on the one answer that proves that nothing ran.
        if (errorWordOf(error) !== 'NOSCRIPT') throw error;
        return this.#send({ ...call, by: 'text' }, items);
      },
    );
    if (!Array.isArray(reply)) throw new Error('Redis answered something other than a list.');
    return reply.map((each) => ({
      reply: each,
      isKept: replicas >= waitReplicas || !script.promises(each),
    }));
  }

  async #send(call: ScriptCall, items: readonly Item[]): Promise<WaitedReply> {
    const { waitReplicas, waitReplicasTimeoutMs } = this.#settings;
    if (waitReplicas === 0) return { reply: await this.link.run(call), replicas: 0 };
    const leftMs = Math.min(...items.map(({ endMs }) => endMs)) - performance.now();
    const timeoutMs = Math.max(1, Math.min(waitReplicasTimeoutMs, Math.floor(leftMs)));
    return this.link.runAndWait(call, { replicas: waitReplicas, timeoutMs });
  }

  /** A cluster behind a proxy says so only now, and before it runs anything. */
  #isOfManySlots(error: unknown): boolean {
    if (errorWordOf(error) !== 'CROSSSLOT') return false;
    this.#mayGather = false;
    return true;
  }
}

/** What is measured to be best; see bench/stores. */
const LANE_LIMITS = { lanes: 8, maxItems: 64, maxBytes: 256 * 1024, stuckAfterMs: 250 } as const;

interface Item extends RecordCall {
  readonly keys: RecordKeys;
  /** The deadline, as a moment of `performance.now()`. */
  readonly endMs: number;
}

interface Answer {
  readonly reply: unknown;
  /** False for a promise that too few replicas have. */
  readonly isKept: boolean;
}

/** A reply that is an error: of one record, in a list of others that are none. */
function isError(reply: unknown): boolean {
  return typeof reply === 'object' && reply !== null && 'message' in reply;
}

function notReplicated({ name }: RecordScript, replicas: number): IdempotencyError {
  return new IdempotencyError(
    'store_not_replicated',
    `${name}: fewer than ${replicas} replicas (waitReplicas) had the write in time. The primary ` +
      'has it, and a failover now would lose it.',
  );
}
