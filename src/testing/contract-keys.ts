import { contractCase, type StoreContractCase } from './contract-case.ts';
import { anyResponse, Scene } from './contract-scene.ts';

/** Keys are compared byte for byte. */
export const KEY_RULES: readonly StoreContractCase[] = [
  contractCase('keys that differ in anything are different keys', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    for (const [n, key] of ODD_KEYS.entries()) {
      await scene.finish('A', anyResponse(`of key ${n}`), { key });
    }
    for (const [n, key] of ODD_KEYS.entries()) {
      await scene.expectReplay(anyResponse(`of key ${n}`), 'B', { key });
    }
  }),

  contractCase('release frees no key that only looks the same', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    for (const key of ODD_KEYS) await scene.expectNew('A', { key });
    const [first = '', ...others] = ODD_KEYS;
    await scene.release('A', { key: first });
    for (const key of others) await scene.expectKind('pending', 'B', { key });
    await scene.expectNew('B', { key: first });
  }),
];

const BEGINNING = 'x'.repeat(254);

const ODD_KEYS: readonly string[] = [
  'order-abc',
  'Order-ABC',
  'ORDER-ABC',
  'order-abc ',
  ' order-abc',
  'order-abc  ',
  'ordér-abc',
  // The same letter as two code points.
  'orde\u0301r-abc',
  'order\u00adabc',
  'order_abc',
  'order%abc',
  'order-ab',
  'order-abcd',
  // 255 characters that differ in the last one, and far longer ones (with tenant and operation).
  `${BEGINNING}a`,
  `${BEGINNING}b`,
  `${BEGINNING.repeat(20)}a`,
  `${BEGINNING.repeat(20)}b`,
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  '0',
  '00',
  '1e0',
  '1',
  'null',
  'undefined',
  '\u0001\u0002\u001f\u007f\u0080\u00ff',
  '\u001ft1:a\u001fk',
  '\u001ft1:a\u001f\u001fo1:k\u001f',
  "'; DROP TABLE idempotency_records; --",
  '"quoted"',
  '{tag}',
  'a:b',
  'a*b?',
  '\u{1f600}',
  'ß',
  'ss',
  'ı',
  'i',
  'İ',
  'ﬁ',
  'fi',
];
