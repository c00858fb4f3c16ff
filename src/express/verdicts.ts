import type { ServerResponse } from 'node:http';
import { type Answer, STRICT } from '../core/profiles.ts';
import type { SavedResponse } from '../core/saved-response.ts';
import type { Saving } from '../core/saving.ts';
import type { Attempt } from '../core/store.ts';
import type { Verdict } from './held-response.ts';
import { answer, replay } from './replies.ts';
import { errorOf } from './thrown.ts';

/** What leaves in place of the handler's answer, when that may not. */
export function verdictOn(
  saving: Saving,
  { fingerprint }: Attempt,
  storeName: string,
  next: (error: unknown) => void,
): Verdict {
  switch (saving.kind) {
    case 'saved':
    case 'undone':
      return 'send';
    case 'unsaved':
      return (res) => say(res, STRICT.outcomeNotSaved);
    case 'failed':
      return () => next(errorOf(saving.error));
    case 'superseded':
      break;
    /* istanbul ignore next -- there is no other kind */
    default:
      saving satisfies never;
  }
  const { found } = saving as Extract<Saving, { kind: 'superseded' }>;
  if (found === undefined) return (res) => say(res, STRICT.pending);
  if (found.fingerprint !== fingerprint) return (res) => say(res, STRICT.conflict);
  const { response } = found;
  if (response !== undefined) return (res) => sendSaved(res, response, storeName);
  return (res) => say(res, found.state === 'tombstone' ? STRICT.expired : STRICT.pending);
}

/** Sends what the store has kept of an answer. */
export function sendSaved(
  res: ServerResponse,
  response: SavedResponse,
  storeName: string,
): 'answered' {
  if (!response.kept) return say(res, STRICT.notKept);
  replay(res, response, storeName);
  return 'answered';
}

/** Sends an answer of ours. */
export function say(res: ServerResponse, ours: Answer): 'answered' {
  answer(res, ours);
  return 'answered';
}
