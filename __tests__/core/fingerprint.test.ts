import { digestOf, fingerprintOf } from '../../src/core/fingerprint.ts';
import { FINGERPRINT_VECTORS } from '../../src/testing/index.ts';

describe('the fingerprint', () => {
  test('tells lists of parts apart that are equal when joined', () => {
    expect(fingerprintOf(['ab', 'c'])).not.toBe(fingerprintOf(['a', 'bc']));
    expect(fingerprintOf(['a', ''])).not.toBe(fingerprintOf(['a']));
  });

  test.each(FINGERPRINT_VECTORS)('of $parts is frozen', ({ parts, fingerprint }) => {
    expect(fingerprintOf(parts)).toBe(fingerprint);
  });

  test('has bytes in it by their digest, which is frozen, too', () => {
    expect(digestOf(Buffer.from([0, 255, 10]))).toBe(
      '712450d3c4a79eea9509e75dc1dacdeff58034df538536cfae2da882bd8a0c50',
    );
  });
});
