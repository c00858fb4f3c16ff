import { median, ratio, table } from '../report.mjs';
import { load } from './load.mjs';
import { newKey, replay, write } from './record.mjs';

const WARM_UP_CONCURRENCY = 16;
const COLUMNS = [
  '',
  'at a time',
  'raw driver',
  'store',
  'ratio',
  '(spread)',
  'CPU of the client, raw',
  'store',
];

/**
 * Claim and complete beside the raw driver's two writes, a replay beside its read by primary key:
 * in turn, there and back, and as the median of the ratios of the rounds. As a table.
 */
export async function compare(bed, { concurrencies, rounds, seconds }) {
  const store = await bed.openStore('records');
  const sides = {
    raw: bed.raw,
    store: { write: (key) => write(store, key), read: (key) => replay(store, key) },
  };
  await measureRound(sides, 0, WARM_UP_CONCURRENCY, seconds);
  const rows = [];
  for (const concurrency of concurrencies) {
    const found = [];
    for (let round = 0; round < rounds; round += 1) {
      found.push(await measureRound(sides, round, concurrency, seconds));
    }
    for (const verb of ['write', 'read']) rows.push(rowOf(verb, concurrency, found));
  }
  return table([COLUMNS, ...rows]).join('\n');
}

async function measureRound(sides, round, concurrency, seconds) {
  const names = round % 2 === 0 ? ['raw', 'store'] : ['store', 'raw'];
  const found = { raw: {}, store: {} };
  for (const name of names) {
    found[name].write = await load(concurrency, seconds, () => sides[name].write(newKey()));
  }
  for (const name of names) {
    const known = newKey();
    await sides[name].write(known);
    found[name].read = await load(concurrency, seconds, () => sides[name].read(known));
  }
  return found;
}

function rowOf(verb, concurrency, found) {
  const ratios = found.map(({ raw, store }) => store[verb].perSecond / raw[verb].perSecond);
  const middle = (side, what) => median(found.map((round) => round[side][verb][what]));
  return [
    verb === 'write' ? 'claim + complete' : 'replay',
    String(concurrency),
    `${middle('raw', 'perSecond').toFixed(0)}/s`,
    `${middle('store', 'perSecond').toFixed(0)}/s`,
    ...ratio(ratios),
    `${middle('raw', 'cpuUs').toFixed(0)} us`,
    `${middle('store', 'cpuUs').toFixed(0)} us`,
  ];
}
