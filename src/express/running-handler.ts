import type { ServerResponse } from 'node:http';
import type { Request } from 'express';
import type { AttemptMachine } from '../core/attempt.ts';
import { AttemptContext } from '../core/attempt-context.ts';
import { nameOf } from '../core/claim-check.ts';
import { alreadyAnswered } from '../core/errors.ts';
import { publish } from '../core/events.ts';
import type { Done } from '../core/recovery-outcome.ts';
import type { HandlerPowers, Settled } from '../core/running-attempt.ts';
import type { SavedResponse } from '../core/saved-response.ts';
import type { Saving } from '../core/saving.ts';
import { answerHeld, hasBegun, holdResponse, type Verdict } from './held-response.ts';
import { endContext, runAs } from './never-started.ts';
import type { Settings } from './options.ts';
import { sendSaved, verdictOn } from './verdicts.ts';

/** One handler that runs under a reservation, from its start until its outcome is known. */
export class RunningHandler implements HandlerPowers {
  readonly #res: ServerResponse;
  readonly #attempt: AttemptMachine;
  readonly #settings: Settings;
  readonly #next: (error: unknown) => void;
  /** What `settle` or `commitSync` came to, which the handler's own answer gives way to. */
  #settled: Verdict | Promise<Verdict> | undefined;
  #hasContext = false;

  private constructor(
    res: ServerResponse,
    attempt: AttemptMachine,
    settings: Settings,
    next: (error: unknown) => void,
  ) {
    this.#res = res;
    this.#attempt = attempt;
    this.#settings = settings;
    this.#next = next;
  }

  /** Holds the answer and gives the handler its powers. From here on it may act. */
  static start(
    req: Request,
    res: ServerResponse,
    attempt: AttemptMachine,
    settings: Settings,
    next: (error: unknown) => void,
  ): RunningHandler {
    const handler = new RunningHandler(res, attempt, settings, next);
    const { context } = attempt;
    holdResponse(res, {
      maxBytes: settings.maxResponseBytes,
      isOutcome: (status) => handler.#hasToConclude(status),
      save: (response) => handler.#conclude(response),
      onGone: () => AttemptContext.clientGone(context),
      report: (detail) => {
        publish('anomaly', context, { detail });
        if (detail !== 'destroyed' && detail !== 'answered-by-outer') return;
        handler.#leaveContext();
        attempt.abandon();
      },
    });
    req.idempotency = context;
    AttemptContext.started(context, handler);
    attempt.start();
    return handler;
  }

  /** Calls the handler, which from then on can say that it has begun nothing. */
  run(next: () => void): void {
    this.#hasContext = true;
    runAs(this, next);
  }

  tx(): unknown {
    return this.#attempt.tx;
  }

  commitSync(write: (tx: never) => unknown): void {
    this.#refuseSecond();
    const response = this.#attempt.commitSync(write as (tx: unknown) => unknown);
    this.#leaveContext();
    this.#settled = this.#sending(response);
    answerHeld(this.#res, this.#settled);
  }

  async settle({ response }: Done): Promise<Settled> {
    if (!this.#attempt.isLeft) this.#refuseSecond();
    const saving = this.#attempt.settle(response);
    this.#leaveContext();
    this.#settled = saving.then((ended) => {
      const isSent = ended.kind === 'saved' || ended.kind === 'undone';
      return isSent ? this.#sending(response) : this.#verdictOn(ended);
    });
    const ended = await saving;
    if (ended.kind === 'failed') throw ended.error;
    answerHeld(this.#res, await this.#settled);
    return ended.kind === 'undone' ? 'unsaved' : ended.kind;
  }

  /** Called by `neverStarted(error)` in the asynchronous context of the handler. */
  sayNeverStarted(): void {
    if (!hasBegun(this.#res)) this.#attempt.sayNeverStarted();
  }

  #refuseSecond(): void {
    if (this.#settled === undefined && !hasBegun(this.#res)) return;
    throw alreadyAnswered();
  }

  #hasToConclude(status: number): boolean {
    this.#leaveContext();
    if (this.#settled !== undefined) return true;
    if (this.#attempt.hasToConclude(this.#settings.isOutcome(status))) return true;
    this.#attempt.leavePending(status);
    return false;
  }

  /** The answer has begun, or there will be none: nothing that the handler says counts any more. */
  #leaveContext(): void {
    if (!this.#hasContext) return;
    this.#hasContext = false;
    endContext();
  }

  #conclude(response: SavedResponse): Verdict | Promise<Verdict> {
    if (this.#settled !== undefined) return this.#settled;
    const isOutcome = this.#settings.isOutcome(response.status);
    const saving = this.#attempt.conclude(response, isOutcome);
    return saving.then((ended) => this.#verdictOn(ended));
  }

  #verdictOn(saving: Saving): Verdict {
    const { context } = this.#attempt;
    return verdictOn(saving, context, nameOf(this.#settings.store), this.#next);
  }

  #sending(response: SavedResponse): Verdict {
    return (res) => sendSaved(res, response, nameOf(this.#settings.store));
  }
}
