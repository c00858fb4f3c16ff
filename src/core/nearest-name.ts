/**
 * The one of `names` that whoever wrote `name` may have meant: case aside, one slip apart; two
 * where it is longer than five letters.
 */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const written = name.slice(0, LONGEST).toLowerCase();
  const slips = names.map((each) => slipsBetween(written, each.toLowerCase()));
  const least = Math.min(...slips);
  return least <= (written.length > 5 ? 2 : 1) ? names[slips.indexOf(least)] : undefined;
}

const LONGEST = 64;

/** How many letters are left out, put in, exchanged, or have changed places with the next one. */
function slipsBetween(one: string, other: string): number {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, to) => to)];
  const at = (row: number, to: number) => (rows[row] as number[])[to] as number;
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row];
    rows.push(next);
    for (let to = 1; to <= other.length; to += 1) {
      const exchanged = at(row - 1, to - 1) + (one[row - 1] === other[to - 1] ? 0 : 1);
      const least = Math.min(exchanged, at(row - 1, to) + 1, at(row, to - 1) + 1);
      const isSwap =
        row > 1 && to > 1 && one[row - 1] === other[to - 2] && one[row - 2] === other[to - 1];
      next.push(isSwap ? Math.min(least, at(row - 2, to - 2) + 1) : least);
    }
  }
  return at(one.length, other.length);
}
