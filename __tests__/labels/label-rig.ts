import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Attempt } from '../../src/index.ts';
import { type Label, type LabelOperation, labelsApp } from '../../src/labels/index.ts';
import { JournalStore } from './journal-store.ts';
import { exchange, type RawAnswer, rawRequest } from './raw-http.ts';

/** A request that makes a label, as the client of the lesson sends it. */
export const OPERATION: LabelOperation = { request_id: 'label-req-7', parcel_id: 'parcel-42' };
export const BODY = '{"request_id":"label-req-7","parcel_id":"parcel-42"}';
export const KEY = 'Idempotency-Key: label-req-7';
export const JSON_TYPE = 'Content-Type: application/json';

export interface LabelRig {
  readonly port: number;
  readonly store: JournalStore;
  readonly labels: Label[];
  readonly contexts: Attempt[];
  readonly errors: unknown[];
  /** What `admit` answers from now on. */
  admission: 0 | 429 | 503;
  /** What `createLabel` waits for before it makes one. */
  gate: Promise<void>;
  /** Sends one request; the journal starts anew. */
  request(line: string, headers?: readonly string[], body?: string | Buffer): Promise<Traced>;
  /** What has been called since the last request was sent. */
  journal(): string[];
  close(): Promise<void>;
}

/** An answer, with the calls that led to it. */
export type Traced = RawAnswer & { readonly journal: readonly string[] };

type AppOptions = Parameters<typeof labelsApp>[0];

/** The labels app on a store and callbacks that write down who was called, in which order. */
export async function labelRig(
  makeListener: (options: AppOptions) => RequestListener = labelsApp,
): Promise<LabelRig> {
  let calls: string[] = [];
  const write = (call: string) => void calls.push(call);
  const store = new JournalStore(write);
  const server = createServer();
  const rig: Omit<LabelRig, 'port'> = {
    store,
    labels: [],
    contexts: [],
    errors: [],
    admission: 0,
    gate: Promise.resolve(),
    async request(line, headers = [JSON_TYPE, KEY], body = '') {
      calls = [];
      const answer = await exchange(portOf(server), [rawRequest(line, headers, body)]);
      return { ...answer, journal: [...calls] };
    },
    journal: () => [...calls],
    close: () => closeServer(server),
  };
  server.on('request', makeListener(appOptions(rig, write)));
  journalFirstBytes(server, write);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(rig, { port: portOf(server) });
}

function appOptions(rig: Omit<LabelRig, 'port'>, write: (call: string) => void): AppOptions {
  return {
    store: rig.store,
    admit(context) {
      write('admit');
      rig.contexts.push(context);
      return rig.admission;
    },
    async createLabel(operation, context) {
      write('create');
      rig.contexts.push(context);
      await rig.gate;
      const label = { label_id: `label-${901 + rig.labels.length}`, ...operation };
      rig.labels.push(label);
      return label;
    },
    findLabel: async (label_id) => rig.labels.find((label) => label.label_id === label_id),
    report: (error) => rig.errors.push(error),
  };
}

/** `write` is the first byte that the socket is given for a request. */
export function journalFirstBytes(server: Server, write: (call: string) => void): void {
  server.prependListener('request', (req) => {
    const { socket } = req;
    const original = socket.write;
    socket.write = function journalled(...args: unknown[]) {
      socket.write = original;
      write('write');
      return Reflect.apply(original, socket, args);
    };
  });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
