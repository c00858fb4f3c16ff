/** The one of `names` that whoever wrote `name` may have meant: case and two letters may differ. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const written = name.slice(0, LONGEST).toLowerCase();
  const distances = names.map((each) => distance(written, each.toLowerCase()));
  const least = Math.min(...distances);
  return least <= MOST_EDITS ? names[distances.indexOf(least)] : undefined;
}

const LONGEST = 64;
const MOST_EDITS = 2;

/** How many letters must be put in, left out or exchanged to make one of the other. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (const [to, wanted] of [...other].entries()) {
      const exchanged = (row[to] as number) + (letter === wanted ? 0 : 1);
      next.push(Math.min(exchanged, (row[to + 1] as number) + 1, (next[to] as number) + 1));
    }
    row = next;
  }
  return row.at(-1) as number;
}
