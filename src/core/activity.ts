/**
 * What goes on with one store in this process, over all middleware that use it: how many attempts
 * are on their way, and how much work goes on behind answered clients.
 */
export interface Activity {
  /** No new key is admitted any more. */
  isDraining: boolean;
  /** From the claim until the handler has answered, or has ended without an answer. */
  running: number;
  /** Saves and releases that go on after their client was answered. */
  inBackground: number;
  /** Told when nothing goes on any more. */
  readonly whenIdle: Set<() => void>;
}

/** The account of `store`, one for all copies of the package that use it. */
export function activityOf(store: object): Activity {
  const place = globalThis as { [ACTIVITIES]?: WeakMap<object, Activity> };
  place[ACTIVITIES] ??= new WeakMap();
  const known = place[ACTIVITIES].get(store);
  if (known !== undefined) return known;
  const made = { isDraining: false, running: 0, inBackground: 0, whenIdle: new Set<() => void>() };
  place[ACTIVITIES].set(store, made);
  return made;
}

export function isIdle({ running, inBackground }: Activity): boolean {
  return running === 0 && inBackground === 0;
}

/** One attempt in the account of its store: there, or not. */
export class Presence {
  readonly #activity: Activity;
  #isThere = false;

  constructor(activity: Activity) {
    this.#activity = activity;
  }

  enter(): void {
    if (this.#isThere) return;
    this.#isThere = true;
    this.#activity.running += 1;
  }

  leave(): void {
    if (!this.#isThere) return;
    this.#isThere = false;
    this.#activity.running -= 1;
    tellIdle(this.#activity);
  }
}

/** Tells who waits, once `activity` has come to rest. */
function tellIdle(activity: Activity): void {
  if (activity.whenIdle.size === 0 || !isIdle(activity)) return;
  for (const tell of activity.whenIdle) tell();
}

/** Counts `work` for as long as it goes on. */
export async function inBackground<T>(activity: Activity, work: Promise<T>): Promise<T> {
  activity.inBackground += 1;
  try {
    return await work;
  } finally {
    activity.inBackground -= 1;
    tellIdle(activity);
  }
}

const ACTIVITIES = Symbol.for('express-idempotent.activities');
