import { IdempotencyError } from '../core/errors.ts';
import { publish } from '../core/events.ts';
import { recordKeyParts } from '../core/record-key.ts';
import type { SettleAnswer, Settlement, SettlementNote } from '../core/recovery-capabilities.ts';
import { isSendable } from '../core/sendable.ts';
import type { IdempotencyStore } from '../core/store.ts';
import { offering } from './capability.ts';
import { type RecordName, recordKeyOf } from './record-name.ts';

/** Who settles a record, and why. */
export interface SettleOptions extends SettlementNote {
  /** What the operator has seen: 1 to 1,000 characters, kept in the record. */
  readonly reason: string;
  /** Whose word it is: 1 to 200 characters, kept in the record. */
  readonly by: string;
  /**
   * Settles although the owner's lease holds, and its process may be at work. With `done` and
   * `unknown` that process then saves nothing any more; with `neverStarted` its action and that of
   * the next request may both be done.
   *
   * @default false
   */
  readonly force?: boolean;
}

/**
 * Ends a pending record by an operator's word. Only `'settled'` has changed anything; the other
 * answers say why not.
 *
 * - `done(response)`: every retry is given this response, and whoever still runs is fenced out.
 * - `unknown()`: the same, with a response that says that nobody can tell.
 * - `neverStarted()`: the next request under the key acts. **Only if nobody can act on the old one
 *   any more**: a process that was paused goes on where it stood. At attempt 1 the key is free; a
 *   record that was taken over keeps its number, and only its lease ends.
 *
 * Who settled and why is kept in a record that stays, and is told by the event `settled`. Needs
 * the capabilities `settle` and `inspect`, and `list` too for a reference.
 *
 * @example
 * ```ts
 * const label = { status: 201, body: { label_id: 'label-901' } };
 * const note = { by: 'operator', reason: 'the label is on the parcel' };
 * const answer = await settle(store, { reference: '1f0c2b7a' }, done(label), note);
 * if (answer !== 'settled') throw new Error(answer);
 * ```
 *
 * @throws {IdempotencyError} `option_invalid`, `reference_ambiguous`, `capability_missing`.
 */
export async function settle(
  store: IdempotencyStore,
  name: RecordName,
  settlement: Settlement,
  options: SettleOptions,
): Promise<SettleAnswer> {
  const capable = offering(store, 'settle', 'inspect');
  checkSettlement(settlement);
  checkText('reason', options?.reason, REASON_MAX_CHARACTERS);
  checkText('by', options?.by, BY_MAX_CHARACTERS);
  const { reason, by } = options;
  const forced = options.force === true;
  const recordKey = await recordKeyOf(store, name);
  if (recordKey === undefined) return 'absent';
  // The number is told to listeners; a record that is settled keeps it.
  const { attempt } = (await capable.inspect(recordKey)) ?? {};
  if (attempt === undefined) return 'absent';
  const answer = await capable.settle(recordKey, settlement, { reason, by }, { force: forced });
  if (answer !== 'settled') return answer;
  const { kind } = settlement;
  const { operation } = recordKeyParts(recordKey);
  const status = kind === 'never-started' ? {} : { status: settlement.response.status };
  const audit = { ...status, settlement: { kind, reason, by, forced } };
  publish('settled', { recordKey, operation, attempt }, audit);
  return answer;
}

const REASON_MAX_CHARACTERS = 1_000;
const BY_MAX_CHARACTERS = 200;

function checkSettlement(settlement: Settlement): void {
  const { kind, response } = (settlement ?? {}) as { kind?: unknown; response?: unknown };
  if (kind === 'never-started') return;
  if ((kind === 'done' || kind === 'unknown') && isSendable(response)) return;
  throw invalid('done(response), neverStarted() or unknown()', settlement);
}

function checkText(name: string, text: unknown, maxCharacters: number): void {
  const isText = typeof text === 'string' && text.trim() !== '' && text.length <= maxCharacters;
  if (isText) return;
  throw invalid(`\`${name}\` to be a text of 1 to ${maxCharacters} characters`, text);
}

function invalid(expected: string, got: unknown): IdempotencyError {
  const what =
    typeof got === 'string' ? `${got.length} characters` : got === null ? 'null' : typeof got;
  return new IdempotencyError(
    'option_invalid',
    `Expected ${expected}, got ${what}. See docs/operator.md.`,
  );
}
