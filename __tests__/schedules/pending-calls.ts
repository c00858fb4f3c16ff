/** Who calls: a process that may have ended. */
export interface Caller {
  isAlive: boolean;
}

interface Call {
  readonly name: string;
  readonly caller: number;
  readonly mayApply: () => boolean;
  readonly onLost: () => void;
  /** What it was answered, once it has been applied. */
  answer: { readonly value: unknown } | { readonly error: unknown } | undefined;
  apply(): Promise<void>;
  settle(isLost: boolean): void;
}

/** Limits of a call that not every moment suits. */
export interface CallTerms {
  /** Whether it could be applied now; a lock may be in the way. */
  readonly mayApply?: () => boolean;
  /** What follows when it is lost before it was applied. */
  readonly onLost?: () => void;
}

/** Calls on their way, each of which waits for the schedule twice: to be applied, and answered. */
export class PendingCalls {
  readonly #calls: Call[] = [];

  get isEmpty(): boolean {
    return this.#calls.length === 0;
  }

  /** A process that has ended sends nothing, and hears nothing. */
  send<T>(
    index: number,
    caller: Caller,
    name: string,
    apply: () => Promise<T>,
    { mayApply = () => true, onLost = () => {} }: CallTerms = {},
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!caller.isAlive) return;
      const call: Call = {
        name,
        caller: index,
        mayApply,
        onLost,
        answer: undefined,
        apply: async () => {
          call.answer = await apply().then(
            (value) => ({ value }),
            (error: unknown) => ({ error }),
          );
        },
        settle: (isLost) => {
          if (!caller.isAlive) return;
          const { answer } = call;
          if (isLost || answer === undefined) reject(new Error('lost'));
          else if ('error' in answer) reject(answer.error);
          else resolve(answer.value as T);
        },
      };
      this.#calls.push(call);
    });
  }

  choices(mayLose: boolean): string[] {
    return this.#calls.flatMap((call, at) => {
      const label = `${at} ${call.caller}.${call.name}`;
      const steps = call.answer !== undefined ? [`answer ${label}`] : [];
      if (call.answer === undefined && call.mayApply()) steps.push(`apply ${label}`);
      if (mayLose) steps.push(`lose ${label}`);
      return steps;
    });
  }

  /** Makes a choice of {@link choices} happen. */
  async take(choice: string): Promise<void> {
    const [verb, at] = choice.split(' ') as [string, string];
    const call = this.#calls[Number(at)] as Call;
    if (verb === 'apply') {
      await call.apply();
      return;
    }
    this.#calls.splice(Number(at), 1);
    if (verb === 'lose' && call.answer === undefined) call.onLost();
    call.settle(verb === 'lose');
  }

  state(): unknown {
    return this.#calls.map(({ name, caller, answer }) => [name, caller, said(answer)]);
  }
}

function said(answer: Call['answer']): unknown {
  if (answer === undefined || 'value' in answer) return answer;
  return String(answer.error);
}
