import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IdempotencyStore, Recovery } from '../../src/index.ts';
import { type CreateLabel, labelsApp } from '../../src/labels/index.ts';
import { journalled } from './journalled.ts';
import { journalFirstBytes, type Traced } from './label-rig.ts';
import { exchange, rawRequest } from './raw-http.ts';

/** What a mode is made of: a store, what becomes of a key left behind, and how labels are made. */
export interface ModeParts {
  readonly store: IdempotencyStore;
  readonly recovery: Recovery;
  readonly createLabel: CreateLabel;
}

export interface ModeRig {
  /** What `admit` answers from now on. */
  admission: 0 | 429 | 503;
  /** What `createLabel` throws once it has written its label. */
  failure: Error | undefined;
  /** What `createLabel` waits for, before it makes one; in a synchronous mode it does not. */
  gate: Promise<void> | undefined;
  readonly errors: unknown[];
  /** Sends one request; the journal starts anew. */
  request(headers: readonly string[], body: string): Promise<Traced>;
  /** What has been called since the last request was sent. */
  journal(): string[];
  close(): Promise<void>;
}

/** The labels app in one mode, with a journal of who was called in which order. */
export async function modeRig(
  makeParts: (write: (call: string) => void) => ModeParts | PromiseLike<ModeParts>,
): Promise<ModeRig> {
  let calls: string[] = [];
  const write = (call: string) => void calls.push(call);
  const { store, recovery, createLabel } = await makeParts(write);
  const server = createServer();
  const { port } = await listening(server);
  const rig: ModeRig = {
    admission: 0,
    failure: undefined,
    gate: undefined,
    errors: [],
    async request(headers, body) {
      calls = [];
      const answer = await exchange(port, [rawRequest('POST /labels', headers, body)]);
      return { ...answer, journal: [...calls] };
    },
    journal: () => [...calls],
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const make: CreateLabel = (operation, context, tx) => {
    write('create');
    const label = () => createLabel(operation, context, tx);
    const made = rig.gate === undefined ? label() : rig.gate.then(label);
    if (rig.failure === undefined) return made;
    if ('then' in made) return made.then(() => Promise.reject(rig.failure));
    throw rig.failure;
  };
  const admit = () => {
    write('admit');
    return rig.admission;
  };
  const app = labelsApp({
    store: journalled(store, write),
    recovery,
    admit,
    createLabel: make,
    findLabel: async () => undefined,
    report: (error) => rig.errors.push(error),
  });
  server.on('request', app);
  journalFirstBytes(server, write);
  return rig;
}

async function listening(server: ReturnType<typeof createServer>): Promise<AddressInfo> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server.address() as AddressInfo;
}
