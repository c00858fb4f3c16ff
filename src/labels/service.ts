import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { drain } from '../index.ts';
import { labelsApp } from './app.ts';
import { drainable } from './drainable-server.ts';
import { modeOf } from './mode.ts';
import { openBackend } from './open-backend.ts';
import type { ServiceSettings } from './service-settings.ts';

/** The labels service while it runs. */
export interface LabelsService {
  /** Where it listens, such as `http://127.0.0.1:3000`. */
  readonly address: string;
  /** Finishes what runs and what is to be saved, cuts off what dawdles, leaves the database. */
  stop(): Promise<void>;
}

/**
 * Starts the service. It listens on the loopback address only, since it asks nobody who they are.
 *
 * Rejects with one sentence that says what is to be mended.
 */
export async function startLabelsService(settings: ServiceSettings): Promise<LabelsService> {
  const backend = await openBackend(settings.store);
  const { store } = backend;
  const { labels, recovery } = modeOf(settings.mode, backend);
  const app = labelsApp({
    store,
    recovery,
    createLabel: labels.create,
    findLabel: labels.find,
  });
  const server = createServer(app);
  const drainServer = drainable(server);
  await listen(server, settings.port);
  return {
    address: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    async stop() {
      // In this order a request that has come in is answered, and not sent to another replica.
      await drainServer(ANSWERING_TIMEOUT_MS);
      await drain(store, { timeoutMs: SAVING_TIMEOUT_MS });
      await Promise.race([backend.close(), delay(CLOSING_TIMEOUT_MS)]);
    },
  };
}

const HOST = '127.0.0.1';
/** The promise is to be gone within 10 s, on a busy machine too. */
const ANSWERING_TIMEOUT_MS = 5_000;
const SAVING_TIMEOUT_MS = 2_000;
const CLOSING_TIMEOUT_MS = 1_000;

async function listen(server: Server, port: number): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, HOST, resolve);
    });
  } catch (cause) {
    throw new Error(
      codeOf(cause) === 'EADDRINUSE'
        ? `Port ${port} is in use. Stop what listens there, or set PORT (0 takes a free one).`
        : `Cannot listen on port ${port} (${codeOf(cause)}). Set PORT to another one.`,
      { cause },
    );
  }
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}
