import { AttemptMachine } from '../../src/core/attempt.ts';
import { AttemptContext } from '../../src/core/attempt-context.ts';
import type { AttemptStore } from '../../src/core/attempt-settings.ts';
import type { Runtime } from '../../src/core/runtime.ts';
import type { KeptResponse, SavedResponse } from '../../src/core/saved-response.ts';
import { MemoryStore } from '../../src/stores/memory.ts';
import { ManualRuntime, settled } from '../core/manual-runtime.ts';
import { Database, type Downstream, LEASE_MS, type Send } from './downstreams.ts';
import type { World } from './explore.ts';
import { PendingCalls } from './pending-calls.ts';

/** How much may go wrong in one run, and who asks. */
export interface Scope {
  /** What `admit` says to each request. */
  readonly admissions: readonly (0 | 429)[];
  /** Calls that are refused, or whose reply is lost after they were applied. */
  readonly faults: number;
  /** Processes that end at once, wherever they are. */
  readonly crashes: number;
  /** How often the lease of whoever has the key is over: at any moment. */
  readonly expiries: number;
  /** Timers that fire before what they guard has settled. */
  readonly earlyTimers: number;
  readonly makeDownstream: (records: MemoryStore) => Downstream;
  /** Changes the store that all requests share, to plant a fault in it. */
  readonly change?: (store: Required<AttemptStore>, plant: Plant) => Partial<AttemptStore>;
}

/** What no store may do, for those who plant a fault. */
export interface Plant {
  /** Removes the record, whatever its attempt is. */
  forget(): void;
}

interface Process {
  isAlive: boolean;
  at: string;
  /** What ends with it. */
  readonly timers: Set<unknown>;
}

/** Requests with one key whose lease may end at any moment, and all orders of what they do. */
export class AbandonedKey implements World {
  readonly #runtime = new ManualRuntime();
  #records: MemoryStore;
  readonly #downstream: Downstream;
  readonly #store: AttemptStore;
  readonly #calls = new PendingCalls();
  readonly #processes: Process[] = [];
  readonly #told = new Set<string>();
  #left: { faults: number; crashes: number; expiries: number; earlyTimers: number };
  #storeNowMs = 0;
  #record: unknown;
  #isHeld = false;

  constructor(scope: Scope) {
    const { faults, crashes, expiries, earlyTimers } = scope;
    this.#left = { faults, crashes, expiries, earlyTimers };
    this.#records = this.#makeRecords();
    this.#downstream = scope.makeDownstream(this.#records);
    const store = storeOf(() => this.#records);
    const forget = () => {
      this.#records = this.#makeRecords();
    };
    this.#store = { ...store, ...scope.change?.(store, { forget }) };
    for (const [index, admission] of scope.admissions.entries()) {
      const process = newProcess();
      this.#processes.push(process);
      const send: Send = (...call) => this.#calls.send(index, process, ...call);
      void this.#run(index, process, send, admission);
    }
  }

  choices(): string[] {
    const left = this.#left;
    const choices = this.#calls.choices(left.faults > 0);
    const mayFire = this.#calls.isEmpty || left.earlyTimers > 0;
    if (this.#runtime.timers > 0 && mayFire) choices.push('timer');
    if (left.expiries > 0 && this.#isHeld) choices.push('expire');
    if (left.expiries > 0 && this.#isLocked) choices.push('abort');
    if (left.crashes === 0) return choices;
    const alive = this.#processes.flatMap(({ isAlive, at }, index) =>
      isAlive && at !== 'end' ? [`crash ${index}`] : [],
    );
    return [...choices, ...alive];
  }

  async take(choice: string): Promise<void> {
    const [verb, index] = choice.split(' ') as [string, string?];
    if (verb === 'timer') {
      if (!this.#calls.isEmpty) this.#left.earlyTimers -= 1;
      await this.#runtime.advance(this.#runtime.nextTimerMs());
    } else if (verb === 'expire') {
      this.#left.expiries -= 1;
      this.#storeNowMs += LEASE_MS;
    } else if (verb === 'abort') {
      this.#left.expiries -= 1;
      this.#downstream.abort?.();
    } else if (verb === 'crash') {
      this.#left.crashes -= 1;
      this.#crash(this.#processes[Number(index)] as Process);
    } else {
      if (verb === 'lose') this.#left.faults -= 1;
      await this.#calls.take(choice);
    }
    await settled();
    await this.#look();
  }

  state(): string {
    return JSON.stringify([
      this.#record,
      this.#calls.state(),
      this.#processes,
      this.#downstream.state(),
      [...this.#told],
      this.#left,
      this.#runtime.timersLeftMs(),
    ]);
  }

  check(): void {
    if (this.#downstream.effects > 1) throw new Error('The action was done twice.');
    if (this.#told.size > 1) throw new Error('Two clients were told two results.');
  }

  /** One more client, who asks until the answer is definite, when nothing goes wrong any more. */
  async checkEnd(): Promise<void> {
    this.#downstream.abort?.();
    const direct: Send = (_name, apply) => apply();
    const process = newProcess();
    for (let tries = 0; tries < 4 && process.at !== 'told'; tries += 1) {
      this.#storeNowMs += LEASE_MS;
      await this.#run(9 + tries, process, direct, 0);
    }
    if (process.at !== 'told') throw new Error('The key is stuck.');
    this.check();
    const [told] = this.#told;
    if (this.#downstream.effects === 0 && told !== 'unknown') {
      throw new Error('A result of no action was saved.');
    }
  }

  #makeRecords(): MemoryStore {
    return new MemoryStore({ now: () => this.#storeNowMs });
  }

  get #isLocked(): boolean {
    return this.#downstream instanceof Database && this.#downstream.isLocked;
  }

  /** What the record says, as far as later steps depend on it. */
  async #look(): Promise<void> {
    const found = await this.#records.inspect('k');
    const { state, owner, attempt, leaseUntilMs = 0, response } = found ?? {};
    this.#isHeld = state === 'pending' && leaseUntilMs > this.#storeNowMs;
    this.#record = [state, owner, attempt, this.#isHeld, response && textOf(response)];
  }

  async #run(index: number, process: Process, send: Send, admission: 0 | 429): Promise<void> {
    const recovery = this.#downstream.recovery(send);
    const context = contextOf(`owner-${index}`, recovery.leaseMs);
    const attempt = new AttemptMachine(context, {
      store: this.#storeOf(send),
      runtime: this.#runtimeOf(process),
      storeTimeoutMs: 100,
      admitTimeoutMs: 100,
      saveTimeoutMs: 300,
      recovery,
    });
    const claim = await attempt.claim();
    process.at = claim.kind === 'new' ? `new ${claim.attempt}` : claim.kind;
    if (claim.kind === 'replay') this.#tell(process, claim.response);
    if (claim.kind !== 'new' || (await attempt.admit(() => admission)) !== 0) {
      this.#end(process);
      return;
    }
    if (await attempt.openTransaction()) {
      attempt.start();
      await this.#handle(index, process, send, attempt);
    }
    this.#end(process);
  }

  async #handle(index: number, process: Process, send: Send, attempt: AttemptMachine) {
    let response = responseOf('failed', 500);
    try {
      response = responseOf(await this.#downstream.act(attempt, index, send), 201);
    } catch {
      // Nobody knows what was done: the key stays pending.
    }
    process.at += response.status === 201 ? ' acted' : ' failed';
    const saving = await attempt.conclude(response, response.status === 201);
    process.at += ` ${saving.kind}`;
    if (saving.kind === 'saved') this.#tell(process, response);
    if (saving.kind === 'superseded' && saving.found?.response !== undefined) {
      this.#tell(process, saving.found.response);
    }
  }

  #crash(process: Process): void {
    process.isAlive = false;
    for (const timer of process.timers) this.#runtime.clearTimer(timer);
  }

  /** Time as one process has it: with the process its timers end. */
  #runtimeOf({ timers }: Process): Runtime {
    const runtime = this.#runtime;
    return {
      nowMs: () => runtime.nowMs(),
      random: () => runtime.random(),
      newOwner: () => runtime.newOwner(),
      setTimer: (run, delayMs) => {
        const timer = runtime.setTimer(run, delayMs);
        timers.add(timer);
        return timer;
      },
      clearTimer: (timer) => runtime.clearTimer(timer),
    };
  }

  #end(process: Process): void {
    if (process.at !== 'told') process.at = 'end';
  }

  #tell(process: Process, response: SavedResponse): void {
    if (!process.isAlive) return;
    this.#told.add(textOf(response));
    process.at = 'told';
  }

  /** The shared store as one request sees it: each call waits for the schedule, twice. */
  #storeOf(send: Send): AttemptStore {
    const store = this.#store as Required<AttemptStore>;
    const free = { mayApply: () => !this.#isLocked };
    return {
      ...store,
      claim: (...args) => send('claim', () => store.claim(...args)),
      complete: (...args) => send('complete', () => store.complete(...args)),
      release: (...args) => send('release', () => store.release(...args), free),
      takeOver: (...args) => send('takeOver', () => store.takeOver(...args), free),
      inspect: (...args) => send('inspect', () => store.inspect(...args)),
      renew: (...args) => send('renew', () => store.renew(...args)),
    };
  }
}

function newProcess(): Process {
  return { isAlive: true, at: 'begin', timers: new Set() };
}

/** A store on the records that there are at the moment of each call. */
function storeOf(records: () => MemoryStore): Required<AttemptStore> {
  return {
    dialect: 'postgres',
    claim: (key, fingerprint, context) => records().claim(key, fingerprint, context),
    complete: (key, response, context) => records().complete(key, response, context),
    release: (key, context) => records().release(key, context),
    renew: (key, leaseMs, context) => records().renew(key, leaseMs, context),
    takeOver: (key, fingerprint, context, options) =>
      records().takeOver(key, fingerprint, context, options),
    inspect: (key) => records().inspect(key),
    completeIn: async (transaction, key, response, context) => {
      await transaction.query('complete', [key, response, context]);
    },
    commitSync: (_key, _context, write) => write(undefined),
  };
}

export function contextOf(owner: string, leaseMs: number | undefined): AttemptContext {
  const names = { tenant: undefined, operation: undefined };
  const identity = { key: 'k', recordKey: 'k', fingerprint: 'f', ...names };
  return new AttemptContext(identity, owner, () => {}, leaseMs);
}

function responseOf(text: string, status: number): KeptResponse {
  return { kept: true, status, headers: [], removedNames: [], body: Buffer.from(text) };
}

function textOf(response: SavedResponse): string {
  return response.kept ? Buffer.from(response.body).toString() : 'not kept';
}
