import { digestOf, fingerprintOf } from '../../src/core/fingerprint.ts';

describe('the fingerprint', () => {
  test('tells lists of parts apart that are equal when joined', () => {
    expect(fingerprintOf(['ab', 'c'])).not.toBe(fingerprintOf(['a', 'bc']));
    expect(fingerprintOf(['a', ''])).not.toBe(fingerprintOf(['a']));
  });

  test('is frozen: its golden vectors do not change', () => {
    expect([
      fingerprintOf([]),
      fingerprintOf(['POST', '/labels', 'application/json', 'json', '{"a":1}']),
      fingerprintOf(['POST', '/größe?a=1', '', 'none']),
      digestOf(Buffer.from([0, 255, 10])),
    ]).toMatchInlineSnapshot(`
[
  "v1:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "v1:c40bb3d41f7fb95f2800b611ab79b051fe28912afd49bfe37138068acc825c91",
  "v1:f129932366e27aa516100436fcaae905ebb1b93a6aa41e94c3c0132f4e206671",
  "712450d3c4a79eea9509e75dc1dacdeff58034df538536cfae2da882bd8a0c50",
]
`);
  });
});
