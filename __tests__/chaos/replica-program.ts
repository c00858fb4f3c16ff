import { setTimeout as delay } from 'node:timers/promises';
import express, { type Request, type RequestHandler, type Response } from 'express';
import {
  type Attempt,
  blind,
  done,
  type IdempotencyStore,
  idempotent,
  keyed,
  neverStarted,
  type Recovery,
  type ResponseWords,
  type RunningAttempt,
  sealed,
} from '../../src/index.ts';
import type { Command, Mode } from './crash-case.ts';
import { Interruption, say } from './interruption.ts';
import { type Naivety, naiveStore } from './naive-store.ts';
import { askProvider } from './provider.ts';

/** What a replica is started with; a store adds where it is to be found. */
export interface ReplicaTask {
  readonly providerPort: number;
  readonly leaseMs: number;
  readonly storeTimeoutMs: number;
  readonly saveTimeoutMs: number;
  /** A rule that this replica does not keep. */
  readonly naivety?: Naivety;
}

/** A store as a replica uses it, and what handlers write in its transactions. */
export interface Backend {
  readonly store: IdempotencyStore;
  readonly transactional?: {
    readonly recovery: Recovery;
    /** Makes one effect, and answers. */
    handle(attempt: RunningAttempt, words: ResponseWords, res: Response): unknown;
    /** The numbers of the attempts whose effects are there. */
    effectsOf(key: string): number[] | Promise<number[]>;
  };
}

/** Serves every mode on one store, and says where it listens. */
export async function serveReplica<Task extends ReplicaTask>(
  open: (task: Task, interruption: Interruption) => Promise<Backend>,
): Promise<void> {
  const task: Task = JSON.parse(process.argv.at(-1) ?? '');
  const interruption = new Interruption();
  const { store, transactional } = await open(task, interruption);
  const app = express();
  const handlers: { readonly [mode in Mode]?: RequestHandler } = {
    ...providerHandlers(task, interruption),
    ...(transactional && { transactional: writingHandler(transactional, interruption) }),
  };
  const modes = { ...recoveries(task, interruption), transactional: transactional?.recovery };
  const guarded = interruption.around(told(naiveStore(store, task.naivety)));
  app.use((req, _res, next) => {
    if (req.method === 'POST') {
      interruption.arm(keyOf(req), JSON.parse(req.get('x-command') ?? '{}') as Command);
    }
    next();
  });
  for (const [mode, recovery] of Object.entries(modes)) {
    const handler = handlers[mode as Mode];
    if (recovery === undefined || handler === undefined) continue;
    const { storeTimeoutMs, saveTimeoutMs } = task;
    const admit = ({ key }: Attempt) => {
      interruption.reach('in admit');
      return interruption.commandFor(key).isRefused ? 503 : 0;
    };
    const options = { recovery, admit, storeTimeoutMs, saveTimeoutMs };
    app.post(`/${mode}`, idempotent(guarded, options), handler);
  }
  app.get('/effects', async (req, res) => {
    res.json(await transactional?.effectsOf(keyOf(req)));
  });
  const server = app.listen(0, '127.0.0.1', () => {
    say(`listening ${(server.address() as { port: number }).port}`);
  });
  interruption.watchSockets(server);
}

function recoveries(task: ReplicaTask, interruption: Interruption) {
  const { leaseMs, naivety, providerPort } = task;
  const kind = naivety === 'looks without a seal' ? 'look' : 'seal';
  return {
    blind: blind(),
    unknown: blind({ onAbandoned: 'unknown', response: { status: 409, body: UNKNOWN }, leaseMs }),
    keyed: keyed({ rerunWithinMs: 3_600_000, leaseMs }),
    sealed: sealed({
      leaseMs,
      async recover({ key, attempt }) {
        interruption.reach('recover');
        const { effect } = await askProvider(providerPort, { kind, key, attempt: attempt - 1 });
        interruption.reach('sealed');
        const words = { status: 201, body: { ...effect, recoveredBy: attempt } };
        return effect === undefined ? neverStarted() : done(words);
      },
    }),
  };
}

const UNKNOWN = { error: 'outcome_unknown' };

/** Handlers that act on the provider. */
function providerHandlers({ providerPort }: ReplicaTask, interruption: Interruption) {
  const handlerOf =
    (mode: Mode): RequestHandler =>
    async (req, res) => {
      const { attempt, key, downstreamKey } = runningIn(req);
      const { leave, lingerMs = 0 } = interruption.commandFor(key);
      interruption.reach('handler');
      if (leave === 'idle') return res.destroy();
      await delay(lingerMs);
      const action = { kind: 'act', mode, key, attempt, downstreamKey } as const;
      const { effect, isRefused } = await askProvider(providerPort, action);
      if (isRefused) throw new Error('This attempt is sealed.');
      interruption.reach('effect');
      if (leave === 'acted') return res.destroy();
      return res.status(201).json({ ...effect, answeredBy: attempt, pid: process.pid });
    };
  return {
    blind: handlerOf('blind'),
    unknown: handlerOf('unknown'),
    keyed: handlerOf('keyed'),
    sealed: handlerOf('sealed'),
  };
}

/** A handler that writes in the transaction of its attempt. */
function writingHandler(
  { handle }: NonNullable<Backend['transactional']>,
  interruption: Interruption,
): RequestHandler {
  return async (req, res) => {
    const running = req.idempotency as RunningAttempt;
    const { key, attempt } = running;
    interruption.reach('handler');
    // It never answers, and its client has gone: no other end leaves the key.
    if (interruption.commandFor(key).leave !== undefined) return;
    const body = { answeredBy: attempt, pid: process.pid };
    await handle(running, { status: 201, body }, res);
  };
}

function runningIn(req: Request) {
  const running = req.idempotency as RunningAttempt;
  const { key, attempt } = running;
  return { key, attempt, downstreamKey: running.downstreamKey('provider') };
}

function keyOf(req: Request): string {
  return req.get('Idempotency-Key') ?? '';
}

/** Says which numbers the store gives, as soon as it has. */
function told(store: IdempotencyStore): IdempotencyStore {
  return new Proxy(store, {
    get(owner, name) {
      const value: unknown = Reflect.get(owner, name, owner);
      if (name !== 'claim' && name !== 'takeOver') {
        return typeof value === 'function' && name !== 'constructor' ? value.bind(owner) : value;
      }
      if (typeof value !== 'function') return value;
      return async (record: string, fingerprint: string, context: Attempt, ...more: unknown[]) => {
        const answer = await value.call(owner, record, fingerprint, context, ...more);
        const { kind, attempt } = answer as { readonly kind: string; readonly attempt?: number };
        if (kind === 'new' || kind === 'taken') say(`granted ${context.key} ${attempt}`);
        return answer;
      };
    },
  });
}
