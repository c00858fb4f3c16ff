import type { IdempotencyStore, ListCapability, ListedRecord, ListOptions } from '../core/store.ts';
import { offering } from './capability.ts';

/** Which records {@link listRecords} goes through. */
export interface ListRecordsOptions extends Omit<ListOptions, 'limit' | 'after'> {
  /** How many records are asked for at a time, 1 to 1,000. @default 100 */
  readonly pageSize?: number;
}

/**
 * Goes through the records of a store, page by page, and touches none. What comes and goes
 * meanwhile may be seen or not. Pending records come oldest first.
 *
 * Needs the capability `list`, which MemoryStore has not. On Redis each page of pending records is
 * a walk over all keys of the database.
 *
 * @example
 * ```ts
 * for await (const { operation, key } of listRecords(store, { state: 'pending' })) {
 *   console.log(operation, key);
 * }
 * ```
 *
 * @throws {IdempotencyError} `capability_missing`, at once; `option_invalid`, at the first record.
 */
export function listRecords(
  store: IdempotencyStore,
  options: ListRecordsOptions = {},
): AsyncIterable<ListedRecord> {
  const capable = offering(store, 'list');
  const { pageSize, ...which } = options;
  const pages: ListOptions = pageSize === undefined ? which : { ...which, limit: pageSize };
  return recordsOn(capable, pages);
}

async function* recordsOn(
  store: ListCapability,
  options: ListOptions,
): AsyncGenerator<ListedRecord, void> {
  let page = await store.list(options);
  yield* page.records;
  while (page.after !== undefined) {
    page = await store.list({ ...options, after: page.after });
    yield* page.records;
  }
}
