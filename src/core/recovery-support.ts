import { nameOf } from './claim-check.ts';
import { IdempotencyError } from './errors.ts';
import { invalidOption, kindOf } from './option-check.ts';
import type { Recovery } from './recovery.ts';
import type { IdempotencyStore } from './store.ts';

/**
 * Whether `store` can serve the mode, asked when the middleware is built: at the first crash it
 * would be too late.
 *
 * @throws {IdempotencyError} `option_invalid`, `recovery_unsupported`.
 */
export function checkRecovery(recovery: Recovery, store: IdempotencyStore): void {
  if (!isMade(recovery)) throw invalidOption(MIDDLEWARE, 'recovery', A_MODE, kindOf(recovery));
  const needs = MODES[recovery.mode];
  const offered = store as unknown as Record<string, unknown>;
  if (recovery.mode === 'transactional') checkAdapter(recovery.adapter, offered, store);
  const missing = needs(recovery).filter((name) => typeof offered[name] !== 'function');
  if (missing.length > 0) {
    throw unsupported(
      `Expected a store with ${missing.join(', ')} for recovery: ${recovery.mode}(…), ` +
        `got ${nameOf(store)} without. Take another store, or blind().`,
    );
  }
  if (recovery.mode !== 'transactional' || recovery.adapter === undefined) return;
  const { dialect } = recovery.adapter;
  if (dialect === offered['dialect']) return;
  throw unsupported(
    `Expected an adapter for the database of ${nameOf(store)}, got one for ${dialect}. ` +
      'The writes and the record must be in one database.',
  );
}

/** A store commits in one of two ways, and whoever mixes them up is told which. */
function checkAdapter(
  adapter: unknown,
  offered: Record<string, unknown>,
  store: IdempotencyStore,
): void {
  const [lent, own] = [offered['completeIn'], offered['commitSync']].map(
    (method) => typeof method === 'function',
  );
  if (adapter === undefined && lent && !own) {
    throw unsupported(
      `Expected a transaction adapter for ${nameOf(store)}, such as ` +
        'transactional(pgTransactions(pool)), got none.',
    );
  }
  if (adapter !== undefined && own && !lent) {
    throw unsupported(
      `Expected transactional() without an adapter for ${nameOf(store)}, whose handlers write in ` +
        'commitSync, got one with an adapter.',
    );
  }
}

/** What each mode asks of the store, besides the three verbs. */
const MODES: { readonly [mode in Recovery['mode']]: (recovery: Recovery) => readonly string[] } = {
  blind: ({ leaseMs }) => (leaseMs === undefined ? [] : ['takeOver', 'renew']),
  keyed: () => ['takeOver', 'renew'],
  sealed: () => ['takeOver', 'renew'],
  transactional: (recovery) => [
    'takeOver',
    'inspect',
    'adapter' in recovery && recovery.adapter !== undefined ? 'completeIn' : 'commitSync',
  ],
};

const MIDDLEWARE = { name: 'idempotent(…)', page: 'docs/recovery.md' };

const A_MODE = 'blind(…), transactional(…), keyed(…) or sealed(…)';

/** What was written by hand lacks what these work out and check. */
function isMade(recovery: unknown): boolean {
  const { mode, maxRunMs, rerunWithinMs, recover } = (recovery ?? {}) as Record<string, unknown>;
  if (!Object.hasOwn(MODES, String(mode)) || typeof maxRunMs !== 'number') return false;
  if (mode === 'keyed') return typeof rerunWithinMs === 'number';
  return mode !== 'sealed' || typeof recover === 'function';
}

function unsupported(message: string): IdempotencyError {
  return new IdempotencyError('recovery_unsupported', message);
}
