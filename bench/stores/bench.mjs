import { compare } from './comparison.mjs';
import { compareMillion } from './million.mjs';
import { sizePerRecord } from './size.mjs';

/** What can be said after `--store`. */
export const STORES = ['sqlite', 'postgres', 'mysql', 'redis'];

/** Each store beside its raw driver, one after the other; Ctrl-C removes what was made, too. */
export async function benchStores(names, plan) {
  const unknown = names.find((name) => !STORES.includes(name));
  if (unknown !== undefined) {
    throw new Error(`--store: expected one of ${STORES.join(', ')}, got ${unknown}.`);
  }
  for (const name of names) {
    const { VARIANTS } = await import(`./${name}.mjs`);
    for (const variant of VARIANTS) await benchStore(variant, plan);
  }
}

async function benchStore({ title, open }, plan) {
  const bed = await open();
  const stop = () => {
    // What is under way is cut off, and rejects.
    process.on('unhandledRejection', () => {});
    void bed.close().finally(() => process.exit(130));
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    const { concurrencies, rounds, seconds, million } = plan;
    console.log(`\n${title}. ${bed.about}. ${rounds} rounds of ${seconds} s a case:`);
    console.log(await compare(bed, { concurrencies, rounds, seconds }));
    console.log(await sizePerRecord(bed));
    if (million) console.log(await compareMillion(bed, rounds));
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await bed.close();
  }
}
