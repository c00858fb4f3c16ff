import { newKey, write } from './record.mjs';

const RECORDS = 10_000;
const CONCURRENCY = 256;

/** What a completed record takes, from records that the store itself has written. A sentence. */
export async function sizePerRecord(bed) {
  const store = await bed.openStore('sized');
  const before = await bed.sizeOf('sized');
  let left = RECORDS;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await write(store, newKey());
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  const bytes = ((await bed.sizeOf('sized')) - before) / RECORDS;
  return `A completed record takes ${bytes.toFixed(0)} bytes (${bed.howSized}).`;
}
