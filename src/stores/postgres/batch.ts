import type { LaneRules } from '../lanes.ts';

/**
 * How a statement takes many records in a fixed number of parameters: ids and bodies one behind the
 * other as bytes, text as JSON arrays. Every driver can send those, whatever it makes of arrays.
 */

const ID_BYTES = 32;

/** The id of the `n`-th record, counted from 1, of the parameter that {@link idsOf} makes. */
export const ASKED_ID: string = `substring(
    $1::bytea from n::int * ${ID_BYTES} - ${ID_BYTES - 1} for ${ID_BYTES})`;

export function idsOf(items: readonly { readonly id: Buffer }[]): Buffer {
  return Buffer.concat(items.map(({ id }) => id));
}

export function jsonOf(values: readonly unknown[]): string {
  return JSON.stringify(values);
}

/** What is measured to be best; see bench/stores. */
export const LANE_LIMITS: Pick<
  LaneRules<unknown, unknown>,
  'lanes' | 'maxItems' | 'maxBytes' | 'stuckAfterMs'
> = { lanes: 2, maxItems: 256, maxBytes: 4 * 1024 * 1024, stuckAfterMs: 250 };
