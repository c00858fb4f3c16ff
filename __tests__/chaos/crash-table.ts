import type { Mode } from './crash-case.ts';
import { isDefinite, isSuccess, type Observation } from './observation.ts';

const MODES: readonly (readonly [mode: Mode, words: string])[] = [
  ['blind', '`blind()`'],
  ['unknown', "`blind({ onAbandoned: 'unknown' })`"],
  ['transactional', '`transactional(…)`'],
  ['keyed', '`keyed(…)`'],
  ['sealed', '`sealed(…)`'],
];

/** One row for each mode of a store, as docs/recovery.md has it. */
export function rowsOf(storeName: string, all: readonly Observation[]): string[] {
  return MODES.flatMap(([mode, words]) => {
    const seen = all.filter(({ crash }) => crash.mode === mode);
    if (seen.length === 0) return [];
    const killed = seen.filter(({ crash }) => crash.fate === 'killed').length;
    const stopped = seen.filter(({ crash }) => crash.fate === 'stopped').length;
    const lost = seen.length - killed - stopped;
    const withEffects = (n: number) => seen.filter(({ effects }) => effects.length === n).length;
    const more = seen.length - withEffects(0) - withEffects(1);
    const ends = seen.map(({ last }) => last.at(-1) ?? { status: 0, text: '' });
    const results = ends.filter(isSuccess).length;
    const unknown = ends.filter(isDefinite).length - results;
    const pending = seen.length - results - unknown;
    const effects = [withEffects(0), withEffects(1), more];
    const cells = [words, storeName, killed, stopped, lost, ...effects, results, unknown, pending];
    return [`| ${cells.join(' | ')} |`];
  });
}
