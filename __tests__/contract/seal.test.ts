import { createCipheriv, randomBytes } from 'node:crypto';
import { aesGcmSeal } from '../../src/stores/seal.ts';

function setup() {
  const key = randomBytes(32);
  const seal = aesGcmSeal({ keys: { k1: key }, sealWith: 'k1' });
  const plain = Buffer.from('{"label":901}');
  const open = async (sealed: Uint8Array, recordKey: string) => seal.open(sealed, recordKey);
  return { key, seal, plain, open };
}

test('what was sealed opens under the same record key, and under no other', async () => {
  const { seal, plain, open } = setup();
  const sealed = await seal.seal(plain, 'record');
  expect(await open(sealed, 'record')).toEqual(plain);
  await expect(open(sealed, 'another record')).rejects.toThrow();
});

test('no byte of what was sealed can be changed, added or cut off', async () => {
  const { seal, plain, open } = setup();
  const sealed = Buffer.from(await seal.seal(plain, 'record'));
  for (const index of sealed.keys()) {
    const changed = Buffer.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    await expect(open(changed, 'record')).rejects.toThrow();
    await expect(open(sealed.subarray(0, index), 'record')).rejects.toThrow();
  }
  await expect(open(Buffer.concat([sealed, Buffer.of(0)]), 'record')).rejects.toThrow();
});

test('the same response is never sealed to the same bytes twice', async () => {
  const { seal, plain } = setup();
  const [one, two] = [await seal.seal(plain, 'record'), await seal.seal(plain, 'record')];
  expect(Buffer.compare(one, two)).not.toBe(0);
});

test('sealed bytes are in the format of every version', async () => {
  const { key, plain, open } = setup();
  const prefix = Buffer.concat([Buffer.of(1, 2), Buffer.from('k1')]);
  const nonce = Buffer.alloc(12, 7);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.concat([prefix, Buffer.from('record')]));
  const text = Buffer.concat([cipher.update(plain), cipher.final()]);
  const sealed = Buffer.concat([prefix, nonce, text, cipher.getAuthTag()]);
  expect(await open(sealed, 'record')).toEqual(plain);
});

test.each([
  [{ keys: {}, sealWith: 'k1' }, 'sealWith'],
  [{ keys: { k1: randomBytes(16) }, sealWith: 'k1' }, '32 bytes'],
  [{ keys: { k1: 'a'.repeat(32) as never }, sealWith: 'k1' }, '32 bytes'],
  [{ keys: { 'k 1': randomBytes(32) }, sealWith: 'k 1' }, 'id of a key'],
])('a ring of keys that cannot seal is refused: %#', (options, message) => {
  expect(() => aesGcmSeal(options)).toThrow(message);
});

test('a key that is changed by its owner afterwards does not change the seal', async () => {
  const { key, seal, plain, open } = setup();
  const sealed = await seal.seal(plain, 'record');
  key.fill(0);
  expect(await open(sealed, 'record')).toEqual(plain);
});
