import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Mode } from './crash-case.ts';

/** What a handler asks of the provider. */
export interface Action {
  readonly kind: 'act';
  readonly mode: Mode;
  readonly key: string;
  readonly downstreamKey: string;
  readonly attempt: number;
}

/** What `recover` asks of it: to take nothing any more from attempts up to this one, or to look. */
export interface Question {
  readonly kind: 'seal' | 'look';
  readonly key: string;
  readonly attempt: number;
}

/** An effect that has taken place, or `undefined`; `isRefused` where the attempt is sealed. */
export interface ProviderAnswer {
  readonly effect?: Effect | undefined;
  readonly isRefused?: boolean;
}

export interface Effect {
  readonly number: number;
  readonly attempt: number;
}

interface Done {
  readonly key: string;
  readonly effect: Effect;
}

/**
 * What handlers act on, in a process that nobody kills. For keyed handlers it does an action once
 * for each downstream key, for sealed ones it can be sealed, for all others it does as it is told.
 */
export class Provider {
  readonly port: number;
  readonly #server: Server;
  readonly #effects: Done[];

  private constructor(server: Server, effects: Done[]) {
    this.#server = server;
    this.#effects = effects;
    this.port = (server.address() as AddressInfo).port;
  }

  static async start(): Promise<Provider> {
    const effects: Done[] = [];
    const keys = new Map<string, Effect>();
    const seals = new Map<string, number>();
    const answer = (asked: Action | Question): ProviderAnswer => {
      const found = () => effects.find(({ key }) => key === asked.key)?.effect;
      if (asked.kind !== 'act') {
        const sealed = seals.get(asked.key) ?? 0;
        if (asked.kind === 'seal') seals.set(asked.key, Math.max(sealed, asked.attempt));
        return { effect: found() };
      }
      const { mode, key, attempt, downstreamKey } = asked;
      const known = mode === 'keyed' ? keys.get(downstreamKey) : undefined;
      if (known !== undefined) return { effect: known };
      const isSealed = mode === 'sealed' && attempt <= (seals.get(key) ?? 0);
      if (isSealed) return { isRefused: true };
      const effect = { number: effects.length + 1, attempt };
      effects.push({ key, effect });
      keys.set(downstreamKey, effect);
      return { effect };
    };
    const server = createServer(async (req, res) => {
      res.end(JSON.stringify(answer((await json(req)) as Action | Question)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Provider(server, effects);
  }

  /** The numbers of the attempts whose effects took place. */
  effectsOf(asked: string): number[] {
    return this.#effects.filter(({ key }) => key === asked).map(({ effect }) => effect.attempt);
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** Asks the provider from another process. */
export async function askProvider(port: number, asked: Action | Question): Promise<ProviderAnswer> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ port, host: '127.0.0.1', method: 'POST', agent: false }, resolve)
      .on('error', reject)
      .end(JSON.stringify(asked));
  });
  return (await json(response)) as ProviderAnswer;
}
