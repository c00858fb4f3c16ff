import { randomUUID } from 'node:crypto';
import type { Mode } from './crash-case.ts';
import type { Provider } from './provider.ts';
import { Replica } from './replica.ts';
import type { ReplicaTask } from './replica-program.ts';

/** One case at a time, on two replicas of one store, of which one is interrupted. */
export class Lane {
  readonly task: ReplicaTask;
  readonly healthy: Replica;
  readonly #program: string;
  readonly #provider: Provider;
  readonly #granted: Granted;
  #victim: Promise<Replica>;

  private constructor({ program, task, provider }: LaneTerms, healthy: Replica, granted: Granted) {
    this.task = task;
    this.healthy = healthy;
    this.#program = program;
    this.#provider = provider;
    this.#granted = granted;
    this.#victim = this.#startVictim();
  }

  static async open(terms: LaneTerms): Promise<Lane> {
    const granted: Granted = [];
    const { program, task } = terms;
    const healthy = await Replica.start(program, task, (key, number) => {
      granted.push({ key, number });
    });
    const lane = new Lane(terms, healthy, granted);
    // What a first request takes longer for is no part of a case.
    for (const replica of [healthy, await lane.victim()]) await replica.ask('keyed', randomUUID());
    return lane;
  }

  /** The numbers that the store gave to attempts at `asked` on either replica, in order. */
  grantedTo(asked: string): number[] {
    return this.#granted.filter(({ key }) => key === asked).map(({ number }) => number);
  }

  /** The numbers of the attempts whose effects took place, where effects of this mode do. */
  async effectsOf(mode: Mode, key: string): Promise<number[]> {
    return mode === 'transactional' ? this.healthy.effectsOf(key) : this.#provider.effectsOf(key);
  }

  /** The replica that is interrupted next. */
  victim(): Promise<Replica> {
    return this.#victim;
  }

  /** Kills it. The next one is started while its key is recovered. */
  async killVictim(): Promise<void> {
    await (await this.#victim).kill();
    this.#victim = this.#startVictim();
  }

  #startVictim(): Promise<Replica> {
    const victim = Replica.start(this.#program, this.task, (key, number) => {
      this.#granted.push({ key, number });
    });
    // Whoever waits for it is told.
    victim.catch(() => {});
    return victim;
  }
}

export interface LaneTerms {
  /** The path of the program that a replica runs. */
  readonly program: string;
  readonly task: ReplicaTask;
  readonly provider: Provider;
}

type Granted = { readonly key: string; readonly number: number }[];

/** Does all of `work`, one at a time on each lane. The answers are in the order of `work`. */
export async function onLanes<Work, Done>(
  lanes: readonly Lane[],
  work: readonly Work[],
  run: (lane: Lane, one: Work) => Promise<Done>,
): Promise<Done[]> {
  const answers: Done[] = [];
  const rest = work.entries();
  const drive = async (lane: Lane) => {
    for (const [n, one] of rest) answers[n] = await run(lane, one);
  };
  await Promise.all(lanes.map(drive));
  return answers;
}
