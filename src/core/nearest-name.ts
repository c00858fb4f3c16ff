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
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 1; at <= one.length; at += 1) {
    const next = [at];
    for (let to = 1; to <= other.length; to += 1) {
      const isSame = one[at - 1] === other[to - 1];
      const isSwap = one[at - 1] === other[to - 2] && one[at - 2] === other[to - 1];
      next.push(
        Math.min(
          (row[to - 1] ?? 0) + (isSame ? 0 : 1),
          (row[to] ?? 0) + 1,
          (next[to - 1] ?? 0) + 1,
          isSwap ? (before[to - 2] ?? Number.POSITIVE_INFINITY) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
}
