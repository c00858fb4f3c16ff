import { A_FUNCTION, milliseconds, type OptionRule } from '../core/option-check.ts';

/** How long a store keeps what is finished. Pending records are kept for ever in any case. */
export interface RetentionOptions {
  /**
   * How long a saved response is replayed, counted from its completion.
   *
   * @default 86_400_000 (24 hours)
   */
  readonly resultRetentionMs?: number;
  /**
   * How long after that the key still answers `expired` instead of running the action again. With
   * 0 a retry that comes after `resultRetentionMs` is a second run.
   *
   * @default 2_592_000_000 (30 days)
   */
  readonly tombstoneRetentionMs?: number;
  /**
   * The clock of the store, in milliseconds since 1970: for tests.
   *
   * @default Date.now
   */
  readonly now?: () => number;
}

/** {@link RetentionOptions} with the defaults filled in. */
export type Retention = Required<RetentionOptions>;

const HOUR_MS = 3_600_000;
/** Some 3,000 years: a time plus two of these is still an exact integer. */
const RETENTION_LIMIT_MS = 1e14;

export const RETENTION_RULES: { readonly [Name in keyof Retention]: OptionRule } = {
  resultRetentionMs: milliseconds(1, RETENTION_LIMIT_MS),
  tombstoneRetentionMs: milliseconds(0, RETENTION_LIMIT_MS),
  now: A_FUNCTION,
};

export function withRetentionDefaults(options: RetentionOptions): Retention {
  return {
    resultRetentionMs: options.resultRetentionMs ?? 24 * HOUR_MS,
    tombstoneRetentionMs: options.tombstoneRetentionMs ?? 30 * 24 * HOUR_MS,
    now: options.now ?? Date.now,
  };
}
