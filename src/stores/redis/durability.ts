import { IdempotencyError } from '../../core/errors.ts';
import type { RedisLink, RedisNode } from './link.ts';
import { errorWordOf } from './redis-error.ts';

/** The settings that decide whether an acknowledged record is kept. */
export interface RedisDurability {
  /** Whether every acknowledged record outlives a crash and a power cut of its server. */
  readonly durable: boolean;
  /** What the settings mean, a sentence each; what may lose records comes first. */
  readonly sentences: readonly string[];
  /** One server, or every primary of a cluster. */
  readonly servers: readonly RedisServerSettings[];
}

/** What one server said; `undefined` where it does not tell. */
export interface RedisServerSettings {
  readonly name: string;
  readonly version: string | undefined;
  readonly isReplica: boolean;
  readonly maxmemoryPolicy: string | undefined;
  readonly appendonly: boolean | undefined;
  readonly appendfsync: string | undefined;
  readonly connectedReplicas: number | undefined;
}

/** What was found, and what of it makes the promise of the store false. */
export interface Findings extends RedisDurability {
  readonly evicts: string | undefined;
  readonly warnings: readonly string[];
}

/** Reads the settings of every server that takes writes, and says what they mean. */
export async function readDurability(link: RedisLink, waitReplicas: number): Promise<Findings> {
  const servers = await Promise.all((await link.nodes()).map(settingsOf));
  for (const server of servers) refuseUnusable(server);
  const evicts = servers.map(evictionOf).find((sentence) => sentence !== undefined);
  const warnings = distinct([
    ...servers.map(persistenceOf),
    ...servers.map((server) => replicationOf(server, waitReplicas)),
  ]);
  const isAlways = servers.every(isWrittenAlways);
  const rest = [isAlways ? ON_DISK : undefined, waitReplicas > 0 ? WAITED_FOR : undefined];
  return {
    durable: evicts === undefined && isAlways,
    sentences: distinct([evicts, ...warnings, ...rest]),
    servers,
    evicts,
    warnings,
  };
}

/**
 * @throws {IdempotencyError} `database_unusable` when records may be evicted and that is not
 *   accepted.
 */
export function refuseDataLoss({ evicts, warnings }: Findings, acceptDataLoss: boolean): void {
  if (evicts !== undefined && !acceptDataLoss) {
    throw new IdempotencyError(
      'database_unusable',
      `RedisStore: ${evicts} Or accept that with acceptDataLoss: true.`,
    );
  }
  for (const sentence of evicts === undefined ? warnings : [evicts, ...warnings]) {
    warnOnce(`RedisStore: ${sentence}`);
  }
}

const MIN_MAJOR_VERSION = 7;

const ON_DISK = 'An acknowledged record is on the disk of its server (appendfsync always).';
const WAITED_FOR =
  'An acknowledged record is in the memory of as many replicas as waitReplicas says. A failover ' +
  'to another replica still loses it.';

async function settingsOf(node: RedisNode): Promise<RedisServerSettings> {
  const info = await node.info().then(fieldsOf, unlessClosed);
  const settings = await node
    .settings(['maxmemory-policy', 'appendonly', 'appendfsync'])
    .catch((error: unknown) => new Map(Object.entries(unlessClosed(error))));
  const appendonly = settings.get('appendonly') ?? info['aof_enabled'];
  const replicas = info['connected_slaves'];
  return {
    name: node.name,
    version: info['redis_version'],
    isReplica: info['role'] === 'slave',
    maxmemoryPolicy: settings.get('maxmemory-policy') ?? info['maxmemory_policy'],
    appendonly: appendonly === undefined ? undefined : appendonly === 'yes' || appendonly === '1',
    appendfsync: settings.get('appendfsync'),
    connectedReplicas: replicas === undefined ? undefined : Number(replicas),
  };
}

type Fields = { readonly [name: string]: string | undefined };

function fieldsOf(info: string): Fields {
  return Object.fromEntries(
    info.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(':');
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)]] : [];
    }),
  );
}

/** Managed services close these commands, and that alone is no failure. */
function unlessClosed(error: unknown): Record<string, never> {
  const word = errorWordOf(error);
  if (word === 'NOPERM' || word === 'ERR') return {};
  throw error;
}

function refuseUnusable({ name, version, isReplica }: RedisServerSettings): void {
  if (isReplica) {
    throw new IdempotencyError(
      'store_read_only',
      `RedisStore: ${name} is a replica and takes no writes. Connect to the primary.`,
    );
  }
  if (version !== undefined && Number.parseInt(version, 10) < MIN_MAJOR_VERSION) {
    throw new IdempotencyError(
      'database_unusable',
      `RedisStore: ${name} is Redis ${version}. Redis 7.0 or later is needed, or Valkey.`,
    );
  }
}

function evictionOf({ name, maxmemoryPolicy }: RedisServerSettings): string | undefined {
  if (maxmemoryPolicy === undefined || maxmemoryPolicy === 'noeviction') return undefined;
  return (
    `maxmemory-policy of ${name} is ${maxmemoryPolicy}: when memory runs short Redis throws ` +
    'records away, and their actions run again. Set it to noeviction.'
  );
}

function isWrittenAlways({ appendonly, appendfsync }: RedisServerSettings): boolean {
  return appendonly === true && appendfsync === 'always';
}

function persistenceOf(server: RedisServerSettings): string | undefined {
  const { name, appendonly, appendfsync, maxmemoryPolicy } = server;
  if (appendonly === undefined || maxmemoryPolicy === undefined) {
    return (
      `${name} does not tell its settings (INFO and CONFIG are closed): see to it that ` +
      'maxmemory-policy is noeviction and appendonly is yes.'
    );
  }
  if (!appendonly) {
    return (
      `appendonly of ${name} is no: a crash of the server forgets what it acknowledged, and ` +
      'those actions run again. Set it to yes.'
    );
  }
  if (appendfsync === 'always') return undefined;
  const lost = appendfsync === 'no' ? 'half a minute' : 'second or two';
  return (
    `appendfsync of ${name} is ${appendfsync ?? 'not told'}: a crash of Redis loses nothing, a ` +
    `power cut the last ${lost}, and those actions run again. With always it loses nothing.`
  );
}

function replicationOf(
  { name, connectedReplicas = 0 }: RedisServerSettings,
  waitReplicas: number,
): string | undefined {
  if (waitReplicas > connectedReplicas) {
    return (
      `waitReplicas is ${waitReplicas} and ${name} has ${connectedReplicas} replicas: every ` +
      'claim is refused until there are more.'
    );
  }
  if (connectedReplicas === 0 || waitReplicas > 0) return undefined;
  return (
    `${name} has replicas, which lag behind: a failover loses what was acknowledged in the last ` +
    'moments, and those actions run again. waitReplicas narrows that.'
  );
}

function distinct(sentences: readonly (string | undefined)[]): string[] {
  return [...new Set(sentences.filter((sentence) => sentence !== undefined))];
}

const warned = new Set<string>();

function warnOnce(message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  process.emitWarning(message, { type: 'IdempotencyWarning' });
}
