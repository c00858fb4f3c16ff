import type { ServerResponse } from 'node:http';
import type { SavedResponse } from '../core/saved-response.ts';
import { HeldBody } from './held-body.ts';
import { HeadFields, isUnpatched, type NodeResponse } from './node-response.ts';
import { OuterHeaders, type ResponseHead } from './response-head.ts';

/** What leaves once saving has ended: the held answer, or what the function writes. */
export type Verdict = 'send' | ((res: ServerResponse) => void);

/** What an operator should know. It never holds header values or bodies. */
export type HoldReport =
  /** An outer layer, such as a time-out, answered by itself: nothing is saved. */
  | 'answered-by-outer'
  /** The handler's `Content-Length` was not the number of bytes that it wrote. */
  | 'length-mended'
  /** The handler destroyed the response before it had answered: nothing is saved. */
  | 'destroyed'
  /** An outer layer threw when the saved answer passed it: the connection was closed. */
  | 'outer-threw';

export interface HoldSettings {
  /** The largest body that is kept. A larger one is streamed, and saved as not kept. */
  readonly maxBytes: number;
  /** How long a `close` is kept from a handler that has not answered. @default 30_000 */
  readonly graceMs?: number;
  /**
   * Whether an answer of this status is an outcome: saved before its first byte. Any other is
   * passed on unsaved. Called once.
   */
  isOutcome(status: number): boolean;
  /**
   * Saves the answer. Called at most once, and never rejects. A function as verdict is given the
   * response as outer middleware had left it before the handler.
   */
  save(response: SavedResponse): Verdict | Promise<Verdict>;
  /** The client's connection closed while the answer was held. Called at most once. */
  onGone?(): void;
  report?(what: HoldReport): void;
}

export const HOLD: unique symbol = Symbol('hold');

export type HeldResponse = NodeResponse & { [HOLD]: Hold };

type Former = Pick<
  NodeResponse,
  'writeHead' | 'writeHeader' | 'write' | 'end' | 'destroy' | 'emit' | 'on' | '_writeRaw'
>;

/** A chunk that waits for "not kept" to be saved, with the callback of its `write`. */
export type LateChunk = readonly [chunk: Buffer, callback: unknown];

/** One held response: what was there before, and what the handler has said so far. */
export class Hold {
  readonly settings: HoldSettings;
  /**
   *     held --end--> ended --verdict--> open
   *       `--size > maxBytes--> spilling --'`--refused while the handler writes--> drained
   *
   * `open`: everything passes. `drained`: another answer leaves once the handler has ended; what it
   * still writes goes nowhere, so that its pipes end.
   */
  stage: 'held' | 'ended' | 'spilling' | 'open' | 'drained' = 'held';
  /** The methods that ours have replaced. */
  readonly former: Former;
  /** Nothing stood between us and Node, so that a head built by Node is the head to send. */
  readonly isOutermost: boolean;
  readonly outerHeaders: OuterHeaders;
  readonly body: HeldBody = new HeldBody();
  head: ResponseHead | undefined;
  /** Node's fields as they were before it built the head. */
  fields: HeadFields | undefined;
  /** The callback of `end`. */
  callback: unknown;
  late: LateChunk[] = [];
  /** What leaves in place of the answer, once the handler has ended it. */
  verdict: Exclude<Verdict, 'send'> | undefined;
  /** Listeners for `drain` that an outer layer would have kept to itself, away from us. */
  drainListeners: unknown[] = [];
  isGone = false;
  isCloseTold = false;
  /** The handler destroyed the response after its answer; that waits until the answer is out. */
  isDestroyWanted = false;
  graceTimer: NodeJS.Timeout | undefined;
  readonly #before: Before;

  constructor(res: NodeResponse, settings: HoldSettings) {
    this.settings = settings;
    this.former = formerMethods(res);
    this.isOutermost = isUnpatched(res);
    this.outerHeaders = new OuterHeaders(res);
    this.#before = {
      fields: new HeadFields(res),
      statusCode: res.statusCode,
      statusMessage: res.statusMessage,
      sendDate: res.sendDate,
    };
  }

  /** Everything passes from here on, and nothing is saved any more. */
  abandon(): void {
    this.stage = 'open';
    this.body.takeChunks();
    this.late = [];
    clearTimeout(this.graceTimer);
  }

  /** The response as outer middleware had left it: nothing that the handler said is there. */
  restoreOuter(res: NodeResponse): void {
    const { fields, statusCode, statusMessage, sendDate } = this.#before;
    res._header = null;
    this.outerHeaders.restore(res);
    fields.restore(res);
    res.statusCode = statusCode;
    res.statusMessage = statusMessage;
    res.sendDate = sendDate;
    res._trailer = '';
  }
}

interface Before {
  readonly fields: HeadFields;
  readonly statusCode: number;
  readonly statusMessage: string | undefined;
  readonly sendDate: boolean;
}

function formerMethods(res: NodeResponse): Former {
  const { writeHead, writeHeader, write, end, destroy, emit, on, _writeRaw } = res;
  return { writeHead, writeHeader, write, end, destroy, emit, on, _writeRaw };
}
