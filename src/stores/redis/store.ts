import { FencedError, IdempotencyError } from '../../core/errors.ts';
import { recordKeyDigest } from '../../core/record-key.ts';
import type {
  RenewCapability,
  SettleAnswer,
  SettleCapability,
  Settlement,
  SettlementNote,
  TakeOver,
  TakeOverCapability,
  TakeOverOptions,
} from '../../core/recovery-capabilities.ts';
import type { SavedResponse } from '../../core/saved-response.ts';
import type {
  Attempt,
  Claim,
  IdempotencyStore,
  InspectCapability,
  ListCapability,
  ListOptions,
  RecordView,
  StoreCall,
} from '../../core/store.ts';
import { withRetentionDefaults } from '../retention.ts';
import { Sealing } from '../sealing.ts';
import { CLAIM, claimCall, claimOf, claimOfFound } from './claim.ts';
import { COMPLETE, completeCall, type RedisKeep, throwUnlessDone } from './complete.ts';
import { type RedisDurability, readDurability, refuseDataLoss } from './durability.ts';
import { linkOf } from './link-of.ts';
import { ListVerb, type Look } from './list.ts';
import { LOOK } from './look.ts';
import { checkRedisOptions, type RedisStoreOptions } from './options.ts';
import { decodeState, stateOf } from './record.ts';
import type { RecordKeys } from './record-script.ts';
import { toIdempotencyError } from './redis-error.ts';
import { RELEASE, releaseCall, throwIfCorrupt } from './release.ts';
import { RENEW, renewCall } from './renew.ts';
import { ResponseCodec } from './response-codec.ts';
import { RedisSession } from './session.ts';
import { SETTLE, settleAnswerOf, settleCall } from './settle.ts';
import { TAKE_OVER, takeOverCall, takeOverOf } from './take-over.ts';
import { within } from './within.ts';

/**
 * A store in Redis 7.0 or later, or Valkey: one server or a cluster, shared by all replicas of the
 * service. **What it acknowledged is only as durable as Redis is set to be**: without AOF a crash
 * of the server loses it, and a failover to a replica may, whatever is set. `check` says what your
 * settings mean; the first claim asks it too.
 *
 * The client is lent: it is never ended. There is nothing to migrate, and nothing to prune: what is
 * finished ends by the TTL of its keys.
 *
 * @example
 * ```ts
 * const store = new RedisStore({ client: new Redis() });
 * await store.check();
 * app.post('/labels', idempotent(store), createLabel);
 * ```
 */
export class RedisStore
  implements
    IdempotencyStore,
    InspectCapability,
    ListCapability,
    RenewCapability,
    SettleCapability,
    TakeOverCapability
{
  readonly #session: RedisSession;
  readonly #codec: ResponseCodec;
  readonly #keep: RedisKeep;
  readonly #prefix: string;
  readonly #list: ListVerb;
  readonly #waitReplicas: number;
  readonly #acceptDataLoss: boolean;
  #isChecked = false;
  #checking: Promise<RedisDurability> | undefined;

  /** @throws {IdempotencyError} `option_invalid`. */
  constructor(options: RedisStoreOptions) {
    checkRedisOptions(options);
    const { prefix = 'idempotent:', waitReplicas = 0, now } = options;
    const { resultRetentionMs, tombstoneRetentionMs } = withRetentionDefaults(options);
    const session = new RedisSession(linkOf(options.client), {
      waitReplicas,
      waitReplicasTimeoutMs: options.waitReplicasTimeoutMs ?? 1_000,
      now,
    });
    this.#session = session;
    this.#codec = new ResponseCodec(new Sealing(options.seal, options.acceptUnsealed ?? false));
    this.#keep = {
      bodyForMs: String(resultRetentionMs),
      stateForMs: String(resultRetentionMs + tombstoneRetentionMs),
    };
    this.#prefix = prefix;
    this.#waitReplicas = waitReplicas;
    this.#acceptDataLoss = options.acceptDataLoss ?? false;
    this.#list = new ListVerb({
      prefix,
      nodes: () => session.link.nodes(),
      nowMs: async (node) => now?.() ?? node.nowMs(),
      look: (digest) => this.#look(this.#keysOf(digest), 'state', callOf(undefined)),
    });
  }

  /**
   * Reads the settings that decide what is left after a crash, and says what they mean. What may
   * lose records gives a warning, once.
   *
   * @throws {IdempotencyError} `database_unusable` when Redis may evict records, unless that is
   *   accepted with `acceptDataLoss`, and when it is too old; `store_read_only` on a replica.
   */
  async check(): Promise<RedisDurability> {
    try {
      const found = await readDurability(this.#session.link, this.#waitReplicas);
      refuseDataLoss(found, this.#acceptDataLoss);
      this.#isChecked = true;
      const { durable, sentences, servers } = found;
      return { durable, sentences, servers };
    } catch (error) {
      throw toIdempotencyError(error, 'check');
    }
  }

  async claim(key: string, fingerprint: string, context: Attempt, call: StoreCall): Promise<Claim> {
    if (!this.#isChecked) await this.#checkOnce(call);
    const keys = this.#keysOf(digestOf(key));
    const asked = claimCall(fingerprint, context);
    let reply: unknown;
    try {
      reply = await this.#session.run(CLAIM, keys, asked, call);
    } catch (error) {
      if (!(error instanceof IdempotencyError) || error.code !== 'store_full') throw error;
      const found = await this.#claimOfFound(key, keys, fingerprint, context.owner, call);
      if (found === undefined) throw error;
      return found;
    }
    if (typeof reply === 'number') return claimOf(reply);
    return { kind: 'replay', response: await this.#codec.decode(key, reply as Buffer) };
  }

  async complete(
    key: string,
    response: SavedResponse,
    context: Attempt,
    call: StoreCall,
  ): Promise<void> {
    const encoded = this.#codec.encode(key, response);
    const body = Buffer.isBuffer(encoded) ? encoded : await encoded;
    const keys = this.#keysOf(digestOf(key));
    const asked = completeCall(context.owner, body, this.#keep);
    throwUnlessDone(await this.#session.run(COMPLETE, keys, asked, call));
  }

  async release(key: string, context: Attempt, call: StoreCall): Promise<void> {
    const keys = this.#keysOf(digestOf(key));
    throwIfCorrupt(await this.#session.run(RELEASE, keys, releaseCall(context.owner), call));
  }

  async inspect(key: string, call?: StoreCall): Promise<RecordView | undefined> {
    const found = await this.#look(this.#keysOf(digestOf(key)), 'body', callOf(call));
    if (found === undefined) return undefined;
    const { isPending, key: _, tenant: __, operation: ___, ...record } = decodeState(found.state);
    const hasResponse = !isPending && found.body !== undefined;
    const response = hasResponse ? await this.#codec.decode(key, found.body) : undefined;
    return { ...record, state: stateOf({ isPending }, hasResponse), response };
  }

  /**
   * Walks all keys of the database, a thousand at a time: for operators, and not for every minute.
   * Pending records come oldest first, and each page of them is a walk; the others come in no
   * order, and what changes meanwhile may be missed or shown twice.
   */
  async list(options: ListOptions = {}): ReturnType<ListCapability['list']> {
    try {
      return await this.#list.run(options);
    } catch (error) {
      throw toIdempotencyError(error, 'list');
    }
  }

  async takeOver(
    key: string,
    fingerprint: string,
    context: Attempt,
    options: TakeOverOptions,
    call: StoreCall,
  ): Promise<TakeOver> {
    const asked = takeOverCall(fingerprint, context, options);
    const keys = this.#keysOf(digestOf(key));
    return takeOverOf(await this.#session.run(TAKE_OVER, keys, asked, call));
  }

  async renew(key: string, leaseMs: number, context: Attempt, call: StoreCall): Promise<void> {
    const keys = this.#keysOf(digestOf(key));
    const asked = renewCall(context.owner, leaseMs);
    const reply = await this.#session.run(RENEW, keys, asked, call);
    throwIfCorrupt(reply);
    if (reply !== 1) throw new FencedError();
  }

  async settle(
    key: string,
    settlement: Settlement,
    note: SettlementNote,
    options: { readonly force?: boolean } = {},
    call?: StoreCall,
  ): Promise<SettleAnswer> {
    const body =
      settlement.kind === 'never-started'
        ? undefined
        : await this.#codec.encode(key, settlement.response);
    const force = options.force ?? false;
    const asked = settleCall(settlement.kind, body, note, force, this.#keep);
    const keys = this.#keysOf(digestOf(key));
    return settleAnswerOf(await this.#session.run(SETTLE, keys, asked, callOf(call)));
  }

  /** The settings are looked at before the first claim; a look that failed is not the last. */
  #checkOnce(call: StoreCall): Promise<RedisDurability> {
    this.#checking ??= this.check().finally(() => {
      this.#checking = undefined;
    });
    return within('claim', call, this.#checking);
  }

  /** Without memory Redis runs no script that may write; what is there can still be answered. */
  async #claimOfFound(
    key: string,
    keys: RecordKeys,
    fingerprint: string,
    owner: string,
    call: StoreCall,
  ): Promise<Claim | undefined> {
    const found = await this.#look(keys, 'body', call);
    if (found === undefined) return undefined;
    const stored = decodeState(found.state);
    const isReadable = !stored.isPending && stored.fingerprint === fingerprint;
    const body = isReadable ? found.body : undefined;
    const response = body && (await this.#codec.decode(key, body));
    return claimOfFound(stored, response, fingerprint, owner);
  }

  async #look(
    keys: RecordKeys,
    what: 'state' | 'body',
    call: StoreCall,
  ): Promise<(Look & { readonly body: Buffer | undefined }) | undefined> {
    const reply = await this.#session.run(LOOK, keys, { args: [what], bytes: 0 }, call);
    if (!Array.isArray(reply)) return undefined;
    const [state, body] = reply;
    const isBody = Buffer.isBuffer(body);
    return { state, hasBody: isBody || body === 1, body: isBody ? body : undefined };
  }

  #keysOf(digest: string): RecordKeys {
    return { state: `${this.#prefix}r:{${digest}}`, body: `${this.#prefix}b:{${digest}}` };
  }
}

const OPERATOR_TIMEOUT_MS = 5_000;

/** 43 characters that mean nothing to Redis, in a pattern either. */
function digestOf(key: string): string {
  return recordKeyDigest(key).toString('base64url');
}

/** Nothing aborts it: the session keeps the time by itself. */
function callOf(call: StoreCall | undefined): StoreCall {
  return call ?? { signal: new AbortController().signal, timeoutMs: OPERATOR_TIMEOUT_MS };
}
