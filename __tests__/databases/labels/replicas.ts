import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { askForLabel, type LabelAnswer } from '../../labels/label-client.ts';
import { type ServiceProcess, ServiceProcesses } from '../../labels/service-process.ts';

export const LEASE_MS = 1_500;

/** Services in a directory with drivers; all of them on the records that `env` names. */
export class Replicas {
  readonly services: ServiceProcesses = new ServiceProcesses();
  readonly #env: NodeJS.ProcessEnv;

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = { LEASE_MS: `${LEASE_MS}`, ...env };
    mkdirSync(dirname(this.services.databasePath));
    symlinkSync(join(__dirname, '../node_modules'), join(this.services.directory, 'node_modules'));
  }

  start(env: NodeJS.ProcessEnv = {}): Promise<ServiceProcess> {
    return this.services.start({ ...this.#env, ...env });
  }

  run(env: NodeJS.ProcessEnv = {}): ReturnType<ServiceProcesses['run']> {
    return this.services.run({ ...this.#env, ...env });
  }

  cleanUp(): Promise<void> {
    return this.services.cleanUp();
  }
}

export function operationOf(request_id: string): { request_id: string; parcel_id: string } {
  return { request_id, parcel_id: `parcel-of-${request_id}` };
}

/** The first answer that does not tell the client to come again, or the last one in time. */
export async function askUntilDone(
  port: number,
  request_id: string,
  timeoutMs = 30_000,
): Promise<LabelAnswer> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const answer = await askForLabel(port, operationOf(request_id));
    if (!isForNow(answer.text) || performance.now() > endMs) return answer;
    await delay(100);
  }
}

/** What a load of repeated keys over two replicas has come to. */
export interface LoadReport {
  /** Answers with a label, by request id: each is what a client has seen. */
  readonly acknowledged: ReadonlyMap<string, string>;
  /** Answers that were not those of an earlier one, or that nobody may give. */
  readonly wrong: readonly string[];
  /** Requests whose connection broke when a replica was killed. */
  readonly brokenCount: number;
  readonly ports: readonly number[];
}

/** Asks for each key 8 times over two replicas; one is killed in the middle and started again. */
export async function loadWithCrash(
  replicas: Replicas,
  keys: readonly string[],
): Promise<LoadReport> {
  const both = await Promise.all([replicas.start(), replicas.start()]);
  const ports = both.map(({ port }) => port);
  const acknowledged = new Map<string, string>();
  const wrong: string[] = [];
  let brokenCount = 0;
  let askedCount = 0;
  const turns = keys.flatMap((key) => Array.from({ length: 8 }, () => key));
  const work = shuffled(turns)[Symbol.iterator]();

  async function ask(key: string): Promise<void> {
    askedCount += 1;
    const before = acknowledged.get(key);
    try {
      const { status, text } = await askForLabel(ports[askedCount % 2] ?? 0, operationOf(key));
      if (status === 201) acknowledged.set(key, before ?? text);
      const isFirst = before === undefined && status === 201;
      const isLater = isForNow(text) && (before === undefined || !isPending(text));
      if (!isFirst && !isLater && text !== before) wrong.push(text);
    } catch {
      brokenCount += 1;
    }
  }
  async function lane(): Promise<void> {
    for (const key of work) await ask(key);
  }
  const lanes = Promise.all(Array.from({ length: 16 }, lane));
  while (acknowledged.size < keys.length / 4) await delay(5);
  await both[1]?.end('SIGKILL');
  ports[1] = (await replicas.start()).port;
  await lanes;
  return { acknowledged, wrong, brokenCount, ports };
}

/** Pending; or nothing was run, since the database was too busy for the short lease. */
function isForNow(text: string): boolean {
  return isPending(text) || text.endsWith('{"error":"store_unavailable"}');
}

function isPending(text: string): boolean {
  return text.endsWith('{"error":"request_pending"}');
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}
