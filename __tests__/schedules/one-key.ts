import { AttemptMachine } from '../../src/core/attempt.ts';
import { AttemptContext } from '../../src/core/attempt-context.ts';
import type { SavedResponse } from '../../src/core/saved-response.ts';
import type { Claim, IdempotencyStore, StoreCall } from '../../src/core/store.ts';
import { MemoryStore } from '../../src/stores/memory.ts';
import { ManualRuntime, settled } from '../core/manual-runtime.ts';
import type { World } from './explore.ts';

/** How much may go wrong in one run, and who asks. */
export interface Scope {
  /** What `admit` says to each request. */
  readonly admissions: readonly (0 | 429)[];
  /** Calls whose answer is lost after they were applied, or that are refused. */
  readonly faults: number;
  /** Processes that end at once, wherever they are. */
  readonly crashes: number;
  /** Timers that fire before what they guard has settled. */
  readonly earlyTimers: number;
  /** Makes the store that all requests share. */
  readonly makeStore?: () => IdempotencyStore;
}

/** A call of the store on its way: not applied, applied, answered. */
interface Call {
  readonly name: string;
  readonly request: number;
  apply(): Promise<void>;
  answer(): void;
  lose(): void;
  isApplied: boolean;
}

interface Request {
  isAlive: boolean;
  at: string;
}

/** Several requests with one key, and every order in which their calls can be applied. */
export class OneKey implements World {
  readonly #scope: Scope;
  readonly #runtime = new ManualRuntime();
  readonly #store: IdempotencyStore;
  readonly #calls: Call[] = [];
  readonly #requests: Request[] = [];
  readonly #told = new Set<string>();
  #creates = 0;
  #faults = 0;
  #crashes = 0;
  #earlyTimers = 0;

  constructor(scope: Scope) {
    this.#scope = scope;
    this.#store = scope.makeStore?.() ?? new MemoryStore({ now: () => 0 });
    for (const [index, admission] of scope.admissions.entries()) {
      const request = { isAlive: true, at: 'begin' };
      this.#requests.push(request);
      void this.#run(index, request, admission);
    }
  }

  choices(): string[] {
    const choices: string[] = [];
    for (const [index, call] of this.#calls.entries()) {
      if (!call.isApplied) choices.push(`${index} apply ${call.name}`);
      else choices.push(`${index} answer ${call.name}`);
      if (this.#faults < this.#scope.faults) choices.push(`${index} lose ${call.name}`);
    }
    const isStill = this.#calls.length === 0;
    const mayBeEarly = this.#earlyTimers < this.#scope.earlyTimers;
    if (this.#runtime.timers > 0 && (isStill || mayBeEarly)) choices.push('timer');
    if (this.#crashes < this.#scope.crashes) {
      for (const [index, request] of this.#requests.entries()) {
        if (request.isAlive && request.at !== 'end') choices.push(`${index} crash`);
      }
    }
    return choices;
  }

  async take(choice: string): Promise<void> {
    const [subject, verb] = choice.split(' ') as [string, string];
    if (subject === 'timer') {
      if (this.#calls.length > 0) this.#earlyTimers += 1;
      await this.#runtime.advance(this.#runtime.nextTimerMs());
      return;
    }
    if (verb === 'crash') {
      this.#crashes += 1;
      (this.#requests[Number(subject)] as Request).isAlive = false;
      return;
    }
    const call = this.#calls[Number(subject)] as Call;
    if (verb === 'apply') await call.apply();
    else {
      if (verb === 'lose') this.#faults += 1;
      this.#calls.splice(Number(subject), 1);
      if (verb === 'answer') call.answer();
      else call.lose();
    }
    await settled();
  }

  state(): string {
    return JSON.stringify([
      this.#record,
      this.#calls.map((call) => [call.name, call.request, call.isApplied]),
      this.#requests,
      [...this.#told],
      [this.#creates, this.#faults, this.#crashes, this.#earlyTimers],
      this.#runtime.timersLeftMs(),
    ]);
  }

  check(): void {
    if (this.#creates > 1) throw new Error('The action was done twice.');
    if (this.#told.size > 1) throw new Error('Two clients were told two results.');
  }

  async checkEnd(): Promise<void> {
    const claim = await this.#store.claim('k', 'f', contextOf('check'), NO_CALL);
    const isSaved = claim.kind === 'replay';
    if (this.#told.size > 0 && !isSaved) throw new Error('A result that was told is not saved.');
    if (this.#crashes === 0 && claim.kind === 'pending') throw new Error('The key is stuck.');
    if (isSaved && this.#creates === 0) throw new Error('A result of no action was saved.');
  }

  get #record(): string {
    return this.#requests.map((request) => request.at).join() + this.#applied.join();
  }

  readonly #applied: string[] = [];

  async #run(index: number, request: Request, admission: 0 | 429): Promise<void> {
    const context = contextOf(`owner-${index}`);
    const attempt = new AttemptMachine(context, {
      store: this.#storeOf(index, request),
      runtime: this.#runtime,
      storeTimeoutMs: 100,
      admitTimeoutMs: 100,
      saveTimeoutMs: 300,
    });
    const claim = await attempt.claim();
    request.at = claim.kind;
    if (claim.kind === 'replay') this.#tell(request, claim.response);
    if (claim.kind === 'new' && (await attempt.admit(() => admission)) === 0) {
      attempt.start();
      await this.#act(index, request, attempt);
    }
    request.at = 'end';
  }

  async #act(index: number, request: Request, attempt: AttemptMachine): Promise<void> {
    if (!request.isAlive) return;
    this.#creates += 1;
    request.at = 'acted';
    const response = responseOf(`label of ${index}`);
    const saving = await attempt.complete(response);
    request.at = saving.kind;
    if (saving.kind === 'saved') this.#tell(request, response);
  }

  #tell(request: Request, response: SavedResponse): void {
    if (!request.isAlive || !response.kept) return;
    this.#told.add(Buffer.from(response.body).toString());
  }

  /** The shared store as one request sees it: each call waits for the schedule, twice. */
  #storeOf(index: number, request: Request): IdempotencyStore {
    const send = <T>(name: string, apply: () => Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        if (!request.isAlive) return;
        let answer: { value: T } | { error: unknown } | undefined;
        this.#calls.push({
          name,
          request: index,
          isApplied: false,
          async apply() {
            this.isApplied = true;
            answer = await apply().then(
              (value) => ({ value }),
              (error) => ({ error }),
            );
          },
          answer: () => {
            if (answer === undefined || !request.isAlive) return;
            if ('value' in answer) resolve(answer.value);
            else reject(answer.error);
          },
          lose: () => {
            if (request.isAlive) reject(new Error('lost'));
          },
        });
      });
    const log = (what: string) => this.#applied.push(`${index}${what}`);
    const store = this.#store;
    return {
      claim: (...claim) =>
        send('claim', async () => {
          const answer: Claim = await store.claim(...claim);
          log(answer.kind);
          return answer;
        }),
      complete: (...complete) =>
        send('complete', async () => {
          await store.complete(...complete);
          log('complete');
        }),
      release: (...release) =>
        send('release', async () => {
          await store.release(...release);
          log('release');
        }),
    };
  }
}

const NO_CALL: StoreCall = { signal: new AbortController().signal, timeoutMs: 1_000 };

function contextOf(owner: string): AttemptContext {
  const names = { tenant: undefined, operation: undefined };
  const identity = { key: 'k', recordKey: 'k', fingerprint: 'f', ...names };
  return new AttemptContext(identity, owner, () => {});
}

function responseOf(text: string): SavedResponse {
  return { kept: true, status: 201, headers: [], removedNames: [], body: Buffer.from(text) };
}
