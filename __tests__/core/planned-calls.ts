/** What a call comes to in place of `apply`, which would make it. */
export type Plan = (apply: () => unknown) => unknown;

export const HANGS: Plan = () => new Promise(() => {});

export function rejects(error: unknown = new Error('down')): Plan {
  return () => Promise.reject(error);
}

export function answers(value: unknown): Plan {
  return () => Promise.resolve(value);
}

export function appliesThenRejects(error: unknown = new Error('reply lost')): Plan {
  return async (apply) => {
    await apply();
    throw error;
  };
}

/** A call that is made, or answered, when the test lets it go. */
export function held(): { readonly plan: Plan; letGo(): void } {
  let letGo = (): void => {};
  const opened = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const plan: Plan = async (apply) => {
    await opened;
    return apply();
  };
  return { plan, letGo: () => letGo() };
}

/** Calls by name, all in one journal, of which a test can plan the next. */
export class PlannedCalls {
  readonly journal: string[] = [];
  readonly #plans = new Map<string, Plan[]>();

  /** The next `times` calls of this name come to this. */
  plan(name: string, plan: Plan, times: number = 1): void {
    const planned = this.#plans.get(name) ?? [];
    this.#plans.set(name, planned);
    for (let each = 0; each < times; each += 1) planned.push(plan);
  }

  /** Nothing is planned any more. */
  heal(): void {
    this.#plans.clear();
  }

  meet<T>(name: string, apply: () => T): T {
    this.journal.push(name);
    const plan = this.#plans.get(name)?.shift();
    return plan === undefined ? apply() : (plan(apply) as T);
  }

  /** How often a call of this name was made. */
  count(name: string): number {
    return this.journal.filter((each) => each === name).length;
  }

  toString(): string {
    return this.journal.join(' ');
  }
}
