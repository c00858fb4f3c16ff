import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { type HoldSettings, holdResponse, type Verdict } from '../../src/express/held-response.ts';
import type { HoldReport } from '../../src/express/hold.ts';
import type { SavedResponse } from '../../src/index.ts';
import { bytesOf, Wire, type WireRequest } from './wire.ts';

export interface HeldAppOptions {
  readonly handler: (req: Request, res: Response) => unknown;
  readonly outer?: RequestHandler[];
  readonly inner?: RequestHandler[];
  readonly settings?: Partial<HoldSettings>;
}

/** One app whose every answer is held until the test says how its saving ended. */
export class HeldApp implements AsyncDisposable {
  readonly server: Server;
  readonly saved: SavedResponse[] = [];
  readonly reports: HoldReport[] = [];
  /** How often the hold told that a client is gone. */
  gone = 0;
  /** The last response that the handler was given. */
  res: ServerResponse | undefined;
  /** The savings under way, the one that has waited longest first. */
  readonly waiting: ((verdict: Verdict) => void)[] = [];
  #onSave: () => void = () => undefined;

  constructor({ handler, outer = [], inner = [], settings }: HeldAppOptions) {
    const app = express();
    app.set('env', 'test');
    for (const layer of outer) app.use(layer);
    app.use((_req, res, next) => {
      this.res = res;
      holdResponse(res, {
        maxBytes: 1024 * 1024,
        isOutcome: (status) => status < 500,
        save: (response) => this.#save(response),
        onGone: () => {
          this.gone += 1;
        },
        report: (what) => this.reports.push(what),
        ...settings,
      });
      next();
    });
    for (const layer of inner) app.use(layer);
    app.use((req, res) => handler(req, res));
    this.server = createServer(app as unknown as RequestListener);
  }

  async listen(): Promise<this> {
    this.server.listen(0, '127.0.0.1');
    await new Promise((resolve) => this.server.once('listening', resolve));
    return this;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** A client that has sent these requests at once. */
  ask(...asked: WireRequest[]): Wire {
    const requests = asked.length === 0 ? [{}] : asked;
    const wire = new Wire(
      this.port,
      requests.map(({ method = 'POST' }) => method),
    );
    return wire.send(Buffer.concat(requests.map((each) => bytesOf(each))));
  }

  /** Waits until so many answers were given to be saved. */
  async saves(count = 1): Promise<void> {
    while (this.saved.length < count) {
      await new Promise<void>((resolve) => {
        this.#onSave = resolve;
      });
    }
  }

  /** Ends the saving that has waited longest. */
  settle(verdict: Verdict = 'send'): void {
    this.waiting.shift()?.(verdict);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #save(response: SavedResponse): Promise<Verdict> {
    this.saved.push(response);
    this.#onSave();
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}

/** Waits until `holds` does, or fails after seconds. */
export async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; !holds(); turn += 1) {
    if (turn > 2000) throw new Error('Waited for 10 seconds, in vain.');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
