import { median, ratio, table } from '../report.mjs';
import { claim, FILLED_KEY, newKey, replay, write } from './record.mjs';

const RECORDS = 1_000_000;
const CALLS_A_ROUND = 200;
const KNOWN = 500;

/** Claims of new keys, and replays, at a million records and at next to none. As a table. */
export async function compareMillion(bed, rounds) {
  const empty = await bed.openStore('few');
  const full = await bed.openStore('million');
  for (let n = 1; n <= KNOWN; n += 1) await write(empty, FILLED_KEY + n);
  await write(full, newKey());
  const startMs = performance.now();
  await bed.fill('million', RECORDS);
  const fillSeconds = (performance.now() - startMs) / 1_000;
  const sides = [
    { store: empty, records: KNOWN },
    { store: full, records: RECORDS },
  ];
  const found = { claim: [], replay: [] };
  for (let round = -1; round < rounds; round += 1) {
    const order = round % 2 === 0 ? [0, 1] : [1, 0];
    const claims = await inTurn(sides, order, ({ store }) => claim(store, newKey()));
    const replays = await inTurn(sides, order, ({ store, records }) =>
      replay(store, FILLED_KEY + (1 + Math.floor(Math.random() * records))),
    );
    if (round < 0) continue;
    found.claim.push(claims);
    found.replay.push(replays);
  }
  const rows = Object.entries(found).map(([what, all]) => rowOf(what, all));
  return [
    `One at a time, a million records (filled in ${fillSeconds.toFixed(0)} s) beside ${KNOWN}:`,
    ...table([['', 'few', 'a million', 'ratio', '(spread)'], ...rows]),
  ].join('\n');
}

/** The median latency of each side, in microseconds. */
async function inTurn(sides, order, action) {
  const latencies = [];
  for (const index of order) {
    const each = [];
    for (let n = 0; n < CALLS_A_ROUND; n += 1) {
      const startMs = performance.now();
      await action(sides[index]);
      each.push((performance.now() - startMs) * 1_000);
    }
    latencies[index] = median(each);
  }
  return latencies;
}

function rowOf(what, found) {
  return [
    what === 'claim' ? 'claim of a new key' : 'replay',
    `${median(found.map(([few]) => few)).toFixed(0)} us`,
    `${median(found.map(([, million]) => million)).toFixed(0)} us`,
    ...ratio(found.map(([few, million]) => million / few)),
  ];
}
