import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { CrashCase } from './crash-case.ts';
import type { Lane } from './lane.ts';
import { type Answer, isDefinite, type Observation } from './observation.ts';
import type { Replica } from './replica.ts';

/** How long after the lease a definite answer has to be there. */
const BOUND_MS = 8_000;
/** How long after its lease a process is woken. */
const PAST_LEASE_MS = 400;
const RETRY_MS = 250;

interface Scene {
  readonly lane: Lane;
  readonly crash: CrashCase;
  readonly key: string;
  readonly victim: Replica;
  /** What the client of the victim will be told. */
  readonly telling: Promise<Answer>;
}

/** One key, from its first request to its last. */
export async function runCase(lane: Lane, crash: CrashCase): Promise<Observation> {
  const key = randomUUID();
  const { mode, command, fate } = crash;
  const victim = await lane.victim();
  if (crash.before !== undefined) await leaveBehind(lane, crash, key);
  const telling = victim.ask(mode, key, command);
  const isMet = await victim.meets(key, telling);
  const recover = isMet ? RECOVERIES[fate] : besideIt;
  const seen = await recover({ lane, crash, key, victim, telling });
  const second = fate === 'killed' ? lane.healthy : victim;
  const last = [await second.ask(mode, key), await lane.healthy.ask(mode, key)];
  const effects = await lane.effectsOf(mode, key);
  return { crash, isMet, ...seen, last, effects, granted: lane.grantedTo(key) };
}

type Recovered = Pick<Observation, 'told' | 'retries' | 'definiteAfterMs'>;

const RECOVERIES: { readonly [fate in CrashCase['fate']]: (scene: Scene) => Promise<Recovered> } = {
  async killed(scene) {
    await scene.lane.killVictim();
    return besideIt(scene);
  },
  async stopped(scene) {
    const { lane, crash, victim, telling } = scene;
    const leaseIsOver = delay(lane.task.leaseMs + PAST_LEASE_MS);
    const beside = await retry(scene, crash.isLocking === true || crash.mode === 'blind');
    await leaseIsOver;
    victim.wake();
    const told = await telling;
    if (!crash.isLocking) return { ...beside, told };
    const after = await retry(scene, false);
    return { ...after, told, retries: [...beside.retries, ...after.retries] };
  },
  'told of a failure': besideIt,
  'told nothing': besideIt,
};

async function besideIt(scene: Scene): Promise<Recovered> {
  const isHopeless = scene.crash.mode === 'blind' && scene.crash.fate === 'killed';
  const [beside, told] = await Promise.all([retry(scene, isHopeless), scene.telling]);
  return { ...beside, told };
}

/** Asks the healthy replica until the answer is definite, or cannot become so, or is late. */
async function retry(
  { lane, crash, key }: Scene,
  isHopeless: boolean,
): Promise<Pick<Observation, 'retries' | 'definiteAfterMs'>> {
  const startMs = performance.now();
  const forMs = lane.task.leaseMs + (isHopeless ? PAST_LEASE_MS : BOUND_MS);
  const retries: Answer[] = [];
  for (;;) {
    const isRefused = crash.refusesFirst === true && !retries.some(isRefusal);
    const answer = await lane.healthy.ask(crash.mode, key, { isRefused });
    const afterMs = performance.now() - startMs;
    retries.push(answer);
    if (isDefinite(answer)) return { retries, definiteAfterMs: afterMs };
    if (afterMs > forMs) return { retries, definiteAfterMs: undefined };
    await delay(RETRY_MS);
  }
}

function isRefusal({ status, text }: Answer): boolean {
  return status === 503 && text.endsWith('{"error":"not_admitted"}');
}

/** An attempt before this one leaves the key, and its lease ends. */
async function leaveBehind(lane: Lane, { mode, before: leave }: CrashCase, key: string) {
  if (leave === undefined) return;
  const leaving = lane.healthy.ask(mode, key, { leave });
  while (lane.grantedTo(key).length === 0) await delay(10);
  // A handler with a transaction leaves its key only if it never answers.
  if (mode !== 'transactional') await leaving;
  await delay(lane.task.leaseMs + PAST_LEASE_MS);
}
