import { existsSync, mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { SqliteStore } from '../stores/sqlite/index.ts';
import { labelsApp } from './app.ts';
import { drainable } from './drainable-server.ts';
import { LabelTable } from './label-table.ts';
import type { ServiceSettings } from './service-settings.ts';

/** The labels service while it runs. */
export interface LabelsService {
  /** Where it listens, such as `http://127.0.0.1:3000`. */
  readonly address: string;
  /** Finishes what runs, cuts off what dawdles, closes the database. */
  stop(): Promise<void>;
}

/**
 * Starts the service: labels and idempotency records in one SQLite file, one connection each.
 * It listens on the loopback address only, since it asks nobody who they are.
 *
 * Rejects with one sentence that says what is to be mended.
 */
export async function startLabelsService(settings: ServiceSettings): Promise<LabelsService> {
  const { port, databasePath } = settings;
  makeDirectory(dirname(databasePath));
  const store = await SqliteStore.open(databasePath);
  const labels = await LabelTable.open(databasePath);
  const app = labelsApp({
    store,
    createLabel: (operation) => labels.create(operation),
    findLabel: (label_id) => labels.find(label_id),
  });
  const server = createServer(app);
  const drain = drainable(server);
  await listen(server, port);
  return {
    address: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    async stop() {
      await drain(DRAIN_TIMEOUT_MS);
      labels.close();
      await store.close();
    },
  };
}

const HOST = '127.0.0.1';
/** The promise is to be gone within 10 s, on a busy machine too. */
const DRAIN_TIMEOUT_MS = 5_000;

/**
 * Step by step: `mkdir` with `recursive` never ends where the file system answers ENOENT for a
 * directory that it does not let be made, as /proc does.
 */
function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  try {
    mkdirSync(path);
  } catch (cause) {
    // Another service may have made it meanwhile.
    if (existsSync(path)) return;
    throw new Error(
      `Cannot make the directory ${path} (${codeOf(cause)}). ` +
        'Set LABELS_DB to a file in a directory that may be written.',
      { cause },
    );
  }
}

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
