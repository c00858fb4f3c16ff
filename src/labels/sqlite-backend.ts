import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { transactional } from '../index.ts';
import { SqliteStore } from '../stores/sqlite/index.ts';
import type { Backend } from './backend.ts';
import { LabelTable } from './label-table.ts';
import type { Labels } from './labels.ts';

/** Records and labels in one SQLite file, on one connection each. */
export async function openSqliteBackend(path: string): Promise<Backend> {
  makeDirectory(dirname(path));
  const store = await SqliteStore.open(path);
  const table = await LabelTable.open(path);
  const pruning = store.startPruning();
  return {
    store,
    labels: labelsOf(table),
    transactional: (options) => transactional(undefined, options),
    async close() {
      await pruning.stop();
      table.close();
      await store.close();
    },
  };
}

/** A table that is opened, and its directory made, where it is not there. */
export async function openLabelTable(path: string): Promise<LabelTable> {
  makeDirectory(dirname(path));
  return LabelTable.open(path);
}

/** In the transaction of the store's handle, where there is one. */
export function labelsOf(table: LabelTable): Labels {
  return {
    create: (operation, _context, tx) =>
      tx === undefined ? table.create(operation) : table.createIn(tx, operation),
    find: (label_id) => table.find(label_id),
  };
}

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
    const { code } = cause as { readonly code?: unknown };
    throw new Error(
      `Cannot make the directory ${path} (${code}). ` +
        'Set LABELS_DB to a file in a directory that may be written.',
      { cause },
    );
  }
}
