import { type Activity, activityOf, Presence } from './activity.ts';
import { type AdmitAnswer, askAdmit } from './admission.ts';
import { askForKey, type ClaimAnswer } from './asking.ts';
import { AttemptContext } from './attempt-context.ts';
import { type AttemptPhase, mayHaveActed } from './attempt-phase.ts';
import type { AttemptSettings } from './attempt-settings.ts';
import { isBackgroundFull } from './background.ts';
import { alreadyAnswered, FencedError, IdempotencyError } from './errors.ts';
import { publish } from './events.ts';
import { GivingBack } from './giving-back.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import type { SavedResponse } from './saved-response.ts';
import { Saver, type Saving } from './saving.ts';
import type { Attempt, Claim } from './store.ts';
import { takeOver } from './taking-over.ts';
import { noTransaction, responseTooLarge, TransactionRun } from './transaction-run.ts';

/** One attempt at one key; {@link AttemptPhase} draws its way. */
export class AttemptMachine {
  readonly context: AttemptContext;
  readonly #settings: AttemptSettings;
  readonly #activity: Activity;
  readonly #presence: Presence;
  readonly #givingBack: GivingBack;
  readonly #saver: Saver;
  #phase: AttemptPhase = 'idle';
  #lease: LeaseKeeper | undefined;
  #transaction: TransactionRun | undefined;
  /** What the handler has said, or what has become known, before it has answered. */
  #word: 'never-started' | 'fenced' | 'unclear' | undefined;

  constructor(context: AttemptContext, settings: AttemptSettings) {
    this.context = context;
    this.#settings = settings;
    this.#activity = activityOf(settings.store);
    this.#presence = new Presence(this.#activity);
    this.#givingBack = new GivingBack(context, settings, this.#activity);
    this.#saver = new Saver(context, settings, this.#activity);
  }

  /**
   * Asks the store for the key; in a recovery mode, for one whose owner went quiet, too. `new` is
   * the only leave to go on. `unavailable` when the store did not say: then the attempt is dead,
   * and what the claim may have reserved, or may still reserve, is released in the background.
   *
   * @throws {IdempotencyError} `record_corrupt`, `store_answer_invalid`. The attempt is dead too.
   */
  async claim(): Promise<ClaimAnswer> {
    if (isBackgroundFull()) {
      this.#phase = 'dead';
      publish('claim-failed', this.context, { detail: 'too much waits for the store' });
      return { kind: 'unavailable' };
    }
    this.#phase = 'asking';
    this.#presence.enter();
    try {
      const claim = await askForKey(this.context, this.#settings, (sent) =>
        this.#givingBack.afterClaim(sent),
      );
      if (claim.kind === 'new') this.#reserved('claimed', claim.attempt);
      else if (claim.kind !== 'pending' || claim.leaseOver === false) this.#told(claim);
      else return await this.#askForAbandoned(claim);
      return claim;
    } catch (error) {
      this.#phase = 'dead';
      this.#over();
      const code = error instanceof IdempotencyError ? error.code : undefined;
      if (code === 'record_corrupt' || code === 'store_answer_invalid') throw error;
      this.#settings.warnOfClaim?.(error);
      return { kind: 'unavailable' };
    }
  }

  /**
   * Asks `admit`, once: see {@link askAdmit}. Whoever is not admitted is dead, and its reservation
   * is given back before this settles, or in the background when the store does not take it.
   */
  admit(admit?: (context: Attempt) => unknown): AdmitAnswer | Promise<AdmitAnswer> {
    const isAsked = admit !== undefined || this.#activity.isDraining;
    if (isAsked || this.#phase !== 'reserved') return this.#askAdmit(admit);
    this.#phase = 'admitted';
    return 0;
  }

  async #askAdmit(admit?: (context: Attempt) => unknown): Promise<AdmitAnswer> {
    this.#expect('reserved');
    let answer: AdmitAnswer = 503;
    try {
      if (!this.#activity.isDraining) answer = await askAdmit(this.context, this.#settings, admit);
    } finally {
      if (answer !== 0) await this.release();
    }
    if (answer === 0) this.#phase = 'admitted';
    else publish('refused', this.context, { status: answer });
    return answer;
  }

  /**
   * In transactional mode: opens the transaction that the handler writes in. Answers false when
   * none was to be had; then the attempt is dead, and its reservation was given back.
   */
  async openTransaction(): Promise<boolean> {
    const { recovery } = this.#settings;
    if (recovery?.mode !== 'transactional') return true;
    try {
      this.#transaction = await TransactionRun.begin(this.context, this.#settings, recovery);
      return true;
    } catch (error) {
      publish('transaction-failed', this.context, { error });
      await this.release();
      return false;
    }
  }

  /** From here on the handler may act. */
  start(): void {
    this.#expect('admitted');
    this.#phase = 'running';
  }

  /** Gives the reservation back of an attempt that has not started. Never rejects. */
  async release(): Promise<void> {
    if (mayHaveActed(this.#phase)) return;
    await this.#transaction?.undo();
    await this.#giveBack();
  }

  /** The transaction that is open for the handler. */
  get tx(): unknown {
    if (this.#transaction === undefined) throw noTransaction(this.#settings.recovery?.mode);
    return this.#transaction.tx;
  }

  /** The handler knows that it has begun nothing. Counts only before it has begun to answer. */
  sayNeverStarted(): void {
    if (this.#phase === 'running') this.#word ??= 'never-started';
  }

  /** Runs `write` and completes the record with its response, in one synchronous transaction. */
  commitSync(write: (tx: unknown) => unknown): SavedResponse {
    if (this.#phase !== 'running') throw alreadyAnswered();
    if (this.#transaction === undefined) throw noTransaction(this.#settings.recovery?.mode);
    try {
      const response = this.#transaction.commitSync(write);
      this.#phase = 'ended';
      this.#over();
      return response;
    } catch (error) {
      if (error instanceof FencedError) this.#word = 'fenced';
      const code = error instanceof IdempotencyError ? error.code : undefined;
      if (code === 'commit_unclear' || code === 'commit_not_synchronous') this.#word = 'unclear';
      throw error;
    }
  }

  /** Whether an answer waits for `conclude`; else `leavePending`, and it may leave at once. */
  hasToConclude(isOutcome: boolean): boolean {
    if (this.#phase !== 'running') return false;
    return isOutcome || this.#transaction !== undefined || this.#word !== undefined;
  }

  /** The handler has ended its answer. Nothing of an outcome may leave before this has resolved. */
  conclude(response: SavedResponse, isOutcome: boolean): Promise<Saving> {
    this.#expect('running');
    const word = this.#word;
    // An answer after a commit that may have kept another one would be a second outcome.
    if (word === 'fenced' || (word === 'unclear' && isOutcome)) return this.#superseded();
    const isUndone = this.#transaction !== undefined && !isOutcome && word !== 'unclear';
    if (isUndone || (word === 'never-started' && response.status >= 400)) {
      return this.#undo({ kind: 'undone' });
    }
    if (!isOutcome) {
      this.leavePending(response.status);
      return Promise.resolve({ kind: 'undone' });
    }
    if (this.#transaction === undefined) return this.complete(response);
    if (!response.kept) return this.#undo({ kind: 'failed', error: responseTooLarge() });
    return this.#commit(this.#transaction, response);
  }

  /** Whether the handler was taken for one without an outcome; it may still have one. */
  get isLeft(): boolean {
    return this.#phase === 'left';
  }

  /** The handler names its outcome, in place of an answer or after one that was none. */
  async settle(response: SavedResponse): Promise<Saving> {
    if (this.#phase === 'left') {
      this.#phase = 'running';
      this.#presence.enter();
      this.#lease = LeaseKeeper.start(this.context, this.#settings, this.#lease?.endMs);
    }
    if (this.#phase !== 'running') throw alreadyAnswered();
    return this.conclude(response, true);
  }

  /** Saves the outcome. Never rejects. See {@link Saver.save}. */
  async complete(response: SavedResponse): Promise<Saving> {
    this.#expect('running');
    this.#phase = 'ended';
    const saving = await this.#saver.save(response, () => this.#lease?.stop());
    this.#presence.leave();
    return saving;
  }

  /** The handler ended without an outcome: nothing is saved, nothing is freed. */
  leavePending(status?: number): void {
    if (this.#phase !== 'running') return;
    this.#phase = 'left';
    publish('left-pending', this.context, status === undefined ? {} : { status });
    this.#over();
  }

  /** The handler's answer is destroyed, or an outer layer has answered: it will not be sent. */
  abandon(): void {
    if (this.#phase !== 'running') return;
    const isOpen = this.#transaction !== undefined && this.#word !== 'unclear';
    if (isOpen) void this.#undo({ kind: 'undone' });
    else this.leavePending();
  }

  async #commit(transaction: TransactionRun, response: SavedResponse): Promise<Saving> {
    if (!transaction.isOpen) return this.complete(response);
    this.#phase = 'ended';
    const saving = await transaction.commit(response);
    if (saving.kind === 'fenced') return this.#superseded();
    if (saving.kind === 'failed') return this.#undo(saving);
    this.#over();
    return saving;
  }

  /** The effect of this attempt does not exist, and never will. */
  async #undo(saving: Saving): Promise<Saving> {
    this.#phase = 'dead';
    // What may still take effect is not given back: its lease ends it.
    if ((await this.#transaction?.undo()) === false) this.#over();
    else await this.#giveBack();
    return saving;
  }

  #superseded(): Promise<Saving> {
    this.#phase = 'ended';
    this.#over();
    return this.#saver.superseded();
  }

  async #askForAbandoned(pending: Claim & { kind: 'pending' }): Promise<ClaimAnswer> {
    const { recovery } = this.#settings;
    const mayTake = recovery?.leaseMs !== undefined && !this.#activity.isDraining;
    if (!mayTake) return this.#told(pending);
    return takeOver(this.context, this.#settings, recovery, {
      taken: (attempt) => this.#reserved('taken-over', attempt),
      giveBack: () => this.#giveBack(),
      giveBackLater: (sent) => this.#givingBack.afterClaim(sent),
      told: () => this.#told(pending),
      complete: (response) => {
        this.#phase = 'running';
        return this.complete(response);
      },
    });
  }

  #told(claim: Exclude<Claim, { kind: 'new' }>): Claim {
    if (this.#phase === 'asking') this.#phase = 'dead';
    publish(claim.kind === 'replay' ? 'replayed' : claim.kind, this.context);
    this.#over();
    return claim;
  }

  #reserved(how: 'claimed' | 'taken-over', attempt: number): void {
    this.#phase = 'reserved';
    AttemptContext.claimed(this.context, attempt);
    publish(how, this.context);
    this.#lease = LeaseKeeper.start(this.context, this.#settings);
  }

  async #giveBack(): Promise<void> {
    this.#phase = 'dead';
    this.#lease?.stop();
    await this.#givingBack.now();
    this.#over();
  }

  /** The handler does nothing more under this attempt. */
  #over(): void {
    this.#lease?.stop();
    this.#presence.leave();
  }

  #expect(phase: 'reserved' | 'admitted' | 'running'): void {
    if (this.#phase === phase) return;
    throw new Error(`An attempt that is ${this.#phase} was used as if it were ${phase}.`);
  }
}
