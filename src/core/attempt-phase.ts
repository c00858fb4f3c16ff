/**
 * Where one attempt at one key is:
 *
 *     idle --claim--> asking --new--> reserved --admit--> admitted --start--> running
 *     running --answer, commit or a lost key--> ended
 *     running --no outcome--> left --settle--> running
 *     asking --any other answer, or none--> dead
 *     reserved, admitted --given back--> dead
 *     running --its effect is undone, or was never begun--> dead
 *
 * Nothing leads out of `dead`, so it never leads to `start`. Only a dead attempt is released, so a
 * release never frees a key whose handler may have acted.
 */
export type AttemptPhase =
  | 'idle'
  | 'asking'
  | 'reserved'
  | 'admitted'
  | 'running'
  | 'left'
  | 'ended'
  | 'dead';

/** From here on the key may not be freed because of what has not happened yet. */
export function mayHaveActed(phase: AttemptPhase): boolean {
  return phase === 'running' || phase === 'left' || phase === 'ended';
}
