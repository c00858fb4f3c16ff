import { compare } from './comparison.mjs';
import { compareMillion } from './million.mjs';
import { stop } from './record.mjs';
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
  // A second one ends this process at once, and its servers with it.
  let isInterrupted = false;
  const interrupt = () => {
    isInterrupted = true;
    stop();
  };
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    const { concurrencies, rounds, seconds, million } = plan;
    console.log(`\n${title}. ${bed.about}. ${rounds} rounds of ${seconds} s a case:`);
    console.log(await compare(bed, { concurrencies, rounds, seconds }));
    console.log(await sizePerRecord(bed));
    if (million) console.log(await compareMillion(bed, rounds));
  } catch (error) {
    if (!isInterrupted) throw error;
  } finally {
    await bed.close();
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
  if (isInterrupted) process.exit(130);
}
