import assert from 'node:assert/strict';
import { encodeSavedResponse, type SavedResponse } from '../core/saved-response.ts';
import type { StoreEvent } from './store-history.ts';

/**
 * Checks what the callers of a store saw, over any number of processes: for each key there must be
 * one order of its calls, in agreement with which came before which, that a single record kept by
 * the rules would have answered in the same way. So there is exactly one `new` for each
 * reservation, and all replays are equal. A call that was rejected or never answered may have
 * been applied at any time after it began, or never.
 *
 * @throws {AssertionError} when the calls of a key contradict each other.
 */
export function checkHistory(events: readonly StoreEvent[]): void {
  const keys = new Map<string, StoreEvent[]>();
  for (const event of events) {
    const known = keys.get(event.key);
    if (known === undefined) keys.set(event.key, [event]);
    else known.push(event);
  }
  for (const ofOneKey of keys.values()) {
    if (isExplained(ofOneKey)) continue;
    const calls = ofOneKey.map(({ method, owner, outcome, begunAt, endedAt = '?' }) => {
      return `  ${begunAt}-${endedAt} ${method} by ${owner}: ${outcome}`;
    });
    assert.fail(`The calls of a key contradict each other:\n${calls.join('\n')}`);
  }
}

/** The one record that all calls are about. */
type Model =
  | { readonly state: 'absent' }
  | { readonly state: 'pending'; readonly owner: string; readonly fingerprint: string | undefined }
  | {
      readonly state: 'completed' | 'tombstone';
      readonly owner: string;
      readonly fingerprint: string | undefined;
      readonly print: string;
    };

/** A search for an order (after Wing and Gong), with what was tried before left out. */
function isExplained(events: readonly StoreEvent[]): boolean {
  const tried = new Set<string>();
  const search = (left: readonly StoreEvent[], model: Model): boolean => {
    const definite = left.filter(isDefinite);
    if (definite.length === 0) return true;
    const position = `${left.map((event) => event.begunAt)}|${JSON.stringify(model)}`;
    if (tried.has(position)) return false;
    tried.add(position);
    const firstEnd = Math.min(...definite.map((event) => event.endedAt ?? Infinity));
    const next = left.filter((event) => event.begunAt < firstEnd);
    // What changes nothing and fits can go first: no order is lost by that.
    const free = next.find((event) => isDefinite(event) && apply(model, event) === model);
    if (free !== undefined) return search(without(left, free), model);
    return next.some((event) => {
      const after = apply(model, event);
      return after !== undefined && search(without(left, event), after);
    });
  };
  return search(events, { state: 'absent' });
}

function isDefinite(event: StoreEvent): boolean {
  return !['rejected', 'unanswered', 'nonsense'].includes(event.outcome);
}

function without(events: readonly StoreEvent[], event: StoreEvent): readonly StoreEvent[] {
  return events.filter((each) => each !== event);
}

/** The record after the call, the same object when it is unchanged; `undefined` for a misfit. */
function apply(model: Model, event: StoreEvent): Model | undefined {
  switch (event.method) {
    case 'claim':
      return applyClaim(model, event);
    case 'complete':
      return applyComplete(model, event);
    case 'release': {
      const isOwn = model.state === 'pending' && model.owner === event.owner;
      return isOwn ? ABSENT : model;
    }
    default:
      return event.method satisfies never;
  }
}

function applyClaim(model: Model, event: StoreEvent): Model | undefined {
  const { owner, fingerprint, outcome } = event;
  const answer = answerTo(model, event);
  if (isDefinite(event) && outcome !== answer) {
    const hasExpired = outcome === 'expired' && answer === 'replay';
    return hasExpired && model.state === 'completed' ? { ...model, state: 'tombstone' } : undefined;
  }
  if (
    outcome === 'replay' &&
    model.state === 'completed' &&
    model.print !== printOf(event.response)
  ) {
    return undefined;
  }
  return model.state === 'absent' ? { state: 'pending', owner, fingerprint } : model;
}

function answerTo(model: Model, { owner, fingerprint }: StoreEvent): StoreEvent['outcome'] {
  if (model.state === 'absent') return 'new';
  if (model.fingerprint !== fingerprint) return 'conflict';
  if (model.state === 'pending') return model.owner === owner ? 'new' : 'pending';
  return model.state === 'completed' ? 'replay' : 'expired';
}

function applyComplete(model: Model, event: StoreEvent): Model | undefined {
  const isOwn = model.state !== 'absent' && model.owner === event.owner;
  if (isDefinite(event) && isOwn !== (event.outcome === 'resolved')) return undefined;
  if (!isOwn || model.state !== 'pending') return model;
  return { ...model, state: 'completed', print: printOf(event.response) };
}

function printOf(response: SavedResponse | undefined): string {
  return response === undefined ? '' : encodeSavedResponse(response).toString('base64');
}

const ABSENT: Model = { state: 'absent' };
