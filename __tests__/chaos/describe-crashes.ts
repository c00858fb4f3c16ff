import { writeSync } from 'node:fs';
import { read } from '../tidy/source-tree.ts';
import { crashCases, lossCases, type TransactionPoints } from './crash-case.ts';
import { rowsOf } from './crash-table.ts';
import { Lane, onLanes } from './lane.ts';
import { type Observation, violationsIn } from './observation.ts';
import { type PlantedFault, plantedFaults } from './planted-fault.ts';
import { Provider } from './provider.ts';
import { Replica } from './replica.ts';
import type { ReplicaTask } from './replica-program.ts';
import { runCase } from './run-case.ts';

/** A store that replicas share. */
export interface CrashSuite {
  /** As docs/recovery.md calls it. */
  readonly storeName: string;
  /** The path of the program that a replica runs. */
  readonly program: string;
  readonly leaseMs: number;
  readonly transactional: TransactionPoints | undefined;
  /** Starts what the store needs, and says where the replicas of a lane find it. */
  start(): Promise<{ placeOf(lane: string): object; stop(): unknown }>;
}

/** The promises of docs/recovery.md, on one store. */
export function describeCrashes(suite: CrashSuite): void {
  const crashes = crashCases(suite.transactional);
  const losses = lossCases(suite.transactional);
  const planted = plantedFaults(suite.transactional);
  const seen = new Map<string, Observation>();
  const caught = new Map<string, Observation>();

  beforeAll(async () => {
    const scene = await CrashScene.start(suite);
    try {
      const [patient, hasty] = await Promise.all([
        scene.open('crash', 8, PATIENT),
        scene.open('loss', 4, impatient(suite)),
      ]);
      const [crashed, lost, faulty] = await Promise.all([
        onLanes(patient, crashes, runCase),
        onLanes(hasty, losses, runCase),
        scene.runPlanted(planted),
      ]);
      for (const one of [...crashed, ...lost]) seen.set(one.crash.title, one);
      for (const one of faulty) caught.set(one.crash.title, one);
    } finally {
      await scene.stop();
    }
  }, TIMEOUT_MS);

  test.each([...crashes, ...losses])(
    '$title, makes no second effect and has one answer',
    ({ title }) => {
      expect(violationsOf(seen, title)).toEqual([]);
    },
  );

  test.each(planted)('$title, and it is noticed', ({ title, violation }) => {
    expect(violationsOf(caught, title)).toContain(violation);
  });

  test('docs/recovery.md has these counts', () => {
    const rows = rowsOf(suite.storeName, [...seen.values()]);
    writeSync(1, `\n${rows.join('\n')}\n`);
    const document = read('docs/recovery.md');
    expect(rows.filter((row) => !document.includes(row))).toEqual([]);
  });
}

/** It takes a minute where nothing else runs. */
const TIMEOUT_MS = 600_000;
const PATIENT = { storeTimeoutMs: 5_000, saveTimeoutMs: 15_000 };
/** A lost reply is given up long after the lease is over: what comes first is not luck. */
function impatient({ leaseMs }: CrashSuite): Patience {
  return { storeTimeoutMs: leaseMs + 3_000, saveTimeoutMs: 10_000 };
}

type LaneSettings = Patience & Pick<ReplicaTask, 'naivety'>;

type Patience = Pick<ReplicaTask, 'storeTimeoutMs' | 'saveTimeoutMs'>;

function violationsOf(all: ReadonlyMap<string, Observation>, title: string): string[] {
  const one = all.get(title);
  return one === undefined ? ['the case was not run'] : violationsIn(one);
}

class CrashScene {
  readonly #suite: CrashSuite;
  readonly #provider: Provider;
  readonly #place: Awaited<ReturnType<CrashSuite['start']>>;

  private constructor(
    suite: CrashSuite,
    provider: Provider,
    place: Awaited<ReturnType<CrashSuite['start']>>,
  ) {
    this.#suite = suite;
    this.#provider = provider;
    this.#place = place;
  }

  static async start(suite: CrashSuite): Promise<CrashScene> {
    const [provider, place] = await Promise.all([Provider.start(), suite.start()]);
    return new CrashScene(suite, provider, place);
  }

  /** So many lanes, ready for their cases. */
  open(name: string, width: number, terms: LaneSettings): Promise<Lane[]> {
    return Promise.all(Array.from({ length: width }, (_, n) => this.#open(`${name}-${n}`, terms)));
  }

  /** Replicas that do not keep a rule: a lane for each of the rules, one after the other. */
  async runPlanted(faults: readonly PlantedFault[]): Promise<Observation[]> {
    const seen: Observation[] = [];
    for (const naivety of new Set(faults.map((fault) => fault.naivety))) {
      const crashes = faults.filter((fault) => fault.naivety === naivety).map(({ crash }) => crash);
      const lanes = await this.open(naivety, 1, { ...PATIENT, naivety });
      seen.push(...(await onLanes(lanes, crashes, runCase)));
    }
    return seen;
  }

  async stop(): Promise<void> {
    await Replica.killAll();
    this.#provider.stop();
    await this.#place.stop();
  }

  #open(name: string, terms: LaneSettings): Promise<Lane> {
    const { program, leaseMs } = this.#suite;
    const provider = this.#provider;
    const place = this.#place.placeOf(name);
    const task = { ...terms, ...place, leaseMs, providerPort: provider.port };
    return Lane.open({ program, task, provider });
  }
}
