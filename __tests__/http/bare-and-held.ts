import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type express from 'express';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import {
  type Attempt,
  type IdempotencyOptions,
  type IdempotencyStore,
  idempotent,
  MemoryStore,
  type SavedResponse,
} from '../../src/index.ts';
import { bytesOf, exceptDate, Wire, type WireAnswer, type WireRequest } from './wire.ts';

export type Express = typeof express;
export type App = ReturnType<Express>;

/** What a handler under test works with. */
export interface Stage {
  readonly req: Request;
  readonly res: Response;
  readonly next: NextFunction;
  /** Notes what the handler observed: compared with what it observes without the middleware. */
  readonly log: (...observed: unknown[]) => void;
  /** A directory with small.txt, letters.txt (600 KB) and large.bin (3 MB). */
  readonly files: string;
}

/** One handler and the request that meets it. The answer of bare Express is the expectation. */
export interface Case {
  readonly name: string;
  readonly handler: (stage: Stage) => unknown;
  readonly asked?: WireRequest;
  readonly outer?: (log: Stage['log']) => RequestHandler[];
  readonly inner?: (log: Stage['log']) => RequestHandler[];
  readonly prepare?: (app: App) => void;
  /** What is mounted after the handler. */
  readonly after?: (app: App, log: Stage['log']) => void;
  readonly server?: ServerOptions;
  readonly options?: IdempotencyOptions;
  /** Where the major version of Express matters. */
  readonly only?: 4 | 5;
  /** How the record is left: most answers are saved. */
  readonly ends?: 'saved' | 'pending' | 'not kept';
  /** Known, documented differences of the held answer from the bare one, applied to both. */
  readonly alike?: (run: Run) => Run;
  /** Where first and replay differ by design: applied to both. */
  readonly replayAlike?: (answer: WireAnswer) => WireAnswer;
  /** The handler is told of a lost connection after half a minute only: not waited for. */
  readonly closesLate?: true;
  /** Bytes that must leave early: 100 Continue. */
  readonly mayLeaveEarly?: true;
  /** What the client sends once it was told to go on. */
  readonly afterContinue?: string;
}

/** What was seen of one request, outside and inside. */
export interface Run {
  readonly answers: readonly WireAnswer[];
  /** What the handler noted. */
  readonly log: readonly string[];
  /** `finish` and `close` of the response, with its state at that moment. */
  readonly events: readonly string[];
  /** Whether more could be sent on the connection. */
  readonly isConnectionOpen: boolean;
}

const LARGE_BYTES = 3 * 1024 * 1024;

/** Files for handlers to send. */
export function makeFiles(): { files: string; remove(): void } {
  const files = mkdtempSync(join(tmpdir(), 'any-handler-'));
  writeFileSync(join(files, 'small.txt'), 'abcdefghijklmnopqrstuvwxyz'.repeat(4));
  writeFileSync(join(files, 'letters.txt'), 'letters of a file. '.repeat(32_000));
  writeFileSync(join(files, 'large.bin'), Buffer.alloc(LARGE_BYTES, 'large file '));
  writeFileSync(join(files, 'page.view'), 'Hello, NAME.');
  return { files, remove: () => rmSync(files, { recursive: true }) };
}

/** A running app with the handler of one case, bare or behind the middleware. */
export class Theatre implements AsyncDisposable {
  readonly #case: Case;
  readonly #files: string;
  readonly #server: Server;
  readonly store: GuardedStore | undefined;
  runs = 0;
  #log: string[] = [];
  #events: string[] = [];
  #closed: Promise<unknown> = Promise.resolve();
  #returned: unknown;
  #socket: Socket | undefined;

  constructor(framework: Express, under: Case, files: string, isHeld: boolean) {
    this.#case = under;
    this.#files = files;
    this.store = isHeld ? new GuardedStore() : undefined;
    this.#server = createServer(under.server ?? {}, this.#app(framework));
  }

  async listen(): Promise<this> {
    const app = this.#server.listeners('request')[0] as App;
    if (this.#case.mayLeaveEarly) this.#server.on('checkContinue', app);
    this.#server.listen(0, '127.0.0.1');
    await new Promise((resolve) => this.#server.once('listening', resolve));
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** One request on a connection of its own, until all of it is over. */
  async run(): Promise<Run> {
    this.#log = [];
    this.#events = [];
    this.#socket = undefined;
    const asked = this.#case.asked ?? {};
    const wire = new Wire(this.port, [asked.method ?? 'POST']);
    try {
      wire.send(bytesOf(asked, ['Idempotency-Key: key-1']));
      if (this.#case.afterContinue !== undefined) {
        await wire.until('100 Continue');
        wire.send(this.#case.afterContinue);
      }
      const answers = await wire.answers();
      const { closesLate = false } = this.#case;
      await Promise.allSettled([closesLate || this.#closed, this.#returned]);
      for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
      const isConnectionOpen = (this.#socket as Socket | undefined)?.writable ?? false;
      return { answers, log: this.#log, events: closesLate ? [] : this.#events, isConnectionOpen };
    } finally {
      wire.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #app(framework: Express): App {
    const { outer, inner, prepare, after, handler, options } = this.#case;
    const log = (...observed: unknown[]): void => {
      this.#log.push(observed.map(String).join(' '));
    };
    const app = framework();
    app.set('env', 'test');
    app.set('views', this.#files);
    prepare?.(app);
    app.use((req, res, next) => {
      this.#watch(req, res);
      next();
    });
    for (const layer of outer?.(log) ?? []) app.use(layer);
    if (this.store !== undefined) {
      const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'];
      app.use(idempotent(this.store, { fingerprint: () => 'same', methods, ...options }));
    }
    for (const layer of inner?.(log) ?? []) app.use(layer);
    app.use((req, res, next) => {
      this.runs += 1;
      this.store?.begin(req.socket, this.#case.mayLeaveEarly ?? false);
      this.#returned = handler({ req, res, next, log, files: this.#files });
      return this.#returned;
    });
    after?.(app, log);
    return app;
  }

  #watch(req: Request, res: Response): void {
    this.#socket = req.socket;
    this.#closed = new Promise((resolve) => res.on('close', resolve));
    for (const name of ['finish', 'close']) {
      res.on(name, () => {
        const { headersSent, writableEnded, finished, writableFinished, statusCode } = res;
        const state = { headersSent, writableEnded, finished, writableFinished, statusCode };
        this.#events.push(`${name} ${JSON.stringify(state)}`);
      });
    }
  }
}

/** A store that takes its time to save, and looks whether a byte has left meanwhile. */
export class GuardedStore implements IdempotencyStore {
  saves = 0;
  /** How many bytes had left, at each save, since the handler began. */
  readonly early: number[] = [];
  readonly #memory = new MemoryStore();
  #socket: Socket | undefined;
  #bytesBefore = 0;
  #mayLeaveEarly = false;

  readonly claim: IdempotencyStore['claim'] = (key, fingerprint, context) =>
    this.#memory.claim(key, fingerprint, context);
  readonly release: IdempotencyStore['release'] = (key, context) =>
    this.#memory.release(key, context);

  begin(socket: Socket, mayLeaveEarly: boolean): void {
    this.#socket = socket;
    this.#bytesBefore = socket.bytesWritten;
    this.#mayLeaveEarly = mayLeaveEarly;
  }

  async complete(key: string, response: SavedResponse, context: Attempt): Promise<void> {
    this.saves += 1;
    for (let turn = 0; turn < 4; turn += 1) await new Promise(setImmediate);
    await this.#memory.complete(key, response, context);
    const left = (this.#socket?.bytesWritten ?? 0) - this.#bytesBefore;
    this.early.push(this.#mayLeaveEarly ? 0 : left);
  }
}

/**
 * The framing of a whole answer is the middleware's: it knows the length. Where bare Express sends
 * chunks, or everything until the close, only the bytes must be the same.
 */
export function exceptFraming(run: Run, bare: Run): Run {
  const answers = run.answers.map((answer, at) => {
    const isBareSized = bare.answers[at]?.framing === 'length';
    const plain = exceptDate(answer);
    if (isBareSized || plain.framing === 'none') return plain;
    const lines = plain.lines.filter(
      (line) => !/^(transfer-encoding|content-length): /i.test(line),
    );
    return { ...plain, lines, framing: 'length' as const };
  });
  return { ...run, answers };
}
