import type { IdempotencyStore, Recovery, TransactionalOptions } from '../index.ts';
import type { Labels } from './labels.ts';

/** What one choice of `STORE` brings: the records, and the labels beside them. */
export interface Backend {
  readonly store: IdempotencyStore;
  readonly labels: Labels;
  /** How labels and records are committed together, where they can be. */
  transactional(options: TransactionalOptions): Recovery;
  close(): Promise<void>;
}
