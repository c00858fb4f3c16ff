/** One run under a schedule: it says what can happen next, and makes it happen. */
export interface World {
  /** The names of what can happen now; empty when the run is over. */
  choices(): readonly string[];
  /** Makes one of them happen, and lets everything settle that depends on nothing else. */
  take(choice: string): Promise<void>;
  /** All that later steps depend on; runs that meet in one state are explored once. */
  state(): string;
  /** Throws when a promise is broken. Called after each step. */
  check(): void;
  /** Throws when a promise is broken at the end of a run. */
  checkEnd(): Promise<void>;
}

export interface Explored {
  readonly runs: number;
  readonly states: number;
}

/**
 * Every schedule there is, depth first: each run is made anew and follows the choices of the one
 * before up to a last one that is another. A broken promise is thrown with the schedule that
 * broke it.
 */
export async function explore(make: () => World): Promise<Explored> {
  const seen = new Set<string>();
  let runs = 0;
  for (let path: number[] | undefined = []; path !== undefined; runs += 1) {
    const names: string[] = [];
    try {
      path = next(await follow(make(), path, seen, names));
    } catch (cause) {
      throw new Error(`${(cause as Error).message}\nSchedule: ${names.join(' | ')}`, { cause });
    }
  }
  return { runs, states: seen.size };
}

/** The choices of one run, each with how many there were. */
type Taken = readonly { readonly index: number; readonly of: number }[];

/** One run: along `path`, then always the first choice, until its end or a state seen before. */
async function follow(
  world: World,
  path: readonly number[],
  seen: Set<string>,
  names: string[],
): Promise<Taken> {
  const taken: { index: number; of: number }[] = [];
  for (;;) {
    const choices = world.choices();
    if (choices.length === 0) break;
    if (taken.length >= path.length) {
      const state = world.state();
      if (seen.has(state)) return taken;
      seen.add(state);
    }
    const index = path[taken.length] ?? 0;
    taken.push({ index, of: choices.length });
    names.push(choices[index] as string);
    await world.take(choices[index] as string);
    world.check();
  }
  await world.checkEnd();
  return taken;
}

/** The path of the next run: up to the last choice that has another. */
function next(taken: Taken): number[] | undefined {
  const last = taken.findLastIndex(({ index, of }) => index + 1 < of);
  if (last < 0) return undefined;
  const path = taken.slice(0, last + 1).map(({ index }) => index);
  path[last] = (path[last] as number) + 1;
  return path;
}
