import assert from 'node:assert/strict';
import type { KeptResponse, SavedResponse } from '../core/saved-response.ts';
import { contractCase, type StoreContractCase } from './contract-case.ts';
import { anyResponse, Scene } from './contract-scene.ts';

/** What is saved comes back byte for byte, and through no reference. */
export const COPY_RULES: readonly StoreContractCase[] = [
  contractCase(
    'a response that is changed after complete stays saved as it was',
    [],
    async (makeStore) => {
      const scene = new Scene(await makeStore());
      await scene.expectNew('A');
      const response = anyResponse();
      const completed = scene.complete('A', response);
      spoil(response);
      await completed;
      spoil(response);
      await scene.expectReplay(anyResponse(), 'B');
    },
  ),

  contractCase('a replay that is changed changes no later replay', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    await scene.finish('A', anyResponse());
    for (const owner of ['B', 'C']) {
      const claim = await scene.claim(owner);
      assert.equal(claim.kind, 'replay');
      if (claim.kind === 'replay' && claim.response.kept) spoil(claim.response);
    }
    await scene.expectReplay(anyResponse(), 'D');
  }),

  contractCase('two replays share no bytes', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    await scene.finish('A', anyResponse());
    const claims = await Promise.all([scene.claim('B'), scene.claim('C')]);
    const [one, two] = claims.map((claim) => claim.kind === 'replay' && claim.response);
    assert.ok(one && two && one.kept && two.kept);
    spoil(one);
    assert.equal(Buffer.from(two.body).toString(), Buffer.from(anyResponse().body).toString());
  }),

  contractCase('every body comes back byte for byte', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    for (const [key, body] of Object.entries(ODD_BODIES)) {
      const response = { ...anyResponse(), body };
      await scene.finish('A', response, { key });
      await scene.expectReplay(response, 'B', { key });
    }
  }),

  contractCase('2,000 header lines come back in order, with every value', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    const headers = Array.from(
      { length: 2_000 },
      (_, n) => [`X-Line-${n % 700}`, `value ${n}`] as const,
    );
    const response = { ...anyResponse(), headers };
    await scene.finish('A', response);
    await scene.expectReplay(response, 'B');
  }),

  contractCase('odd heads come back as they were', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    for (const [key, response] of Object.entries(ODD_HEADS)) {
      await scene.finish('A', response, { key });
      await scene.expectReplay(response, 'B', { key });
    }
  }),

  contractCase('a response that is not kept comes back as not kept', [], async (makeStore) => {
    const scene = new Scene(await makeStore());
    await scene.finish('A', { kept: false, status: 201 });
    await scene.expectReplay({ kept: false, status: 201 }, 'B');
    await scene.expectConflict('B');
  }),

  contractCase(
    '3 MB are kept, or refused as too large and then completed as not kept',
    [],
    async (makeStore) => {
      const scene = new Scene(await makeStore());
      const large = { ...anyResponse(), body: Buffer.alloc(3_000_000, 'abcdefg') };
      await scene.expectNew('A');
      const refusal = await scene.complete('A', large).then(() => undefined, codeOf);
      if (refusal === undefined) return scene.expectReplay(large, 'B');
      assert.equal(refusal, 'record_too_large');
      await scene.expectKind('pending', 'B');
      await scene.complete('A', { kept: false, status: 201 });
      await scene.expectReplay({ kept: false, status: 201 }, 'B');
    },
  ),
];

const ALL_BYTES = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

const ODD_BODIES: { readonly [name: string]: Uint8Array } = {
  empty: new Uint8Array(0),
  'one NUL': Uint8Array.of(0),
  'every byte': ALL_BYTES,
  'every byte backwards': Uint8Array.from(ALL_BYTES).reverse(),
  'not UTF-8': Uint8Array.of(0xc3, 0x28, 0xff, 0xfe, 0xed, 0xa0, 0x80),
  'a byte order mark': Buffer.from('\ufeff{}'),
  'line ends': Buffer.from('\r\n\n\r\0\t'),
  'a window in the middle': ALL_BYTES.subarray(100, 131),
  'a megabyte': Buffer.alloc(1_048_576, ALL_BYTES),
};

const ODD_HEADS: { readonly [name: string]: SavedResponse } = {
  'no header line': { ...anyResponse(), headers: [] },
  'a reason phrase': { ...anyResponse(), reason: 'Très bien' },
  'an empty reason phrase': { ...anyResponse(), reason: '' },
  'status 100': { ...anyResponse(), status: 100 },
  'status 999': { ...anyResponse(), status: 999 },
  'removed names': { ...anyResponse(), removedNames: ['x-powered-by', 'etag'] },
  'an added value': {
    ...anyResponse(),
    headers: [
      ['Set-Cookie', 'a=1', 'added'],
      ['Set-Cookie', 'b=2; Path=/', 'added'],
    ],
  },
  'names that objects have': {
    ...anyResponse(),
    headers: [
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['toString', 'c'],
    ],
  },
  'odd values': {
    ...anyResponse(),
    headers: [
      ['X-Latin-1', 'caf\u00e9 \u00ff'],
      ['X-Empty', ''],
      ['X-Spaces', '  two  '],
      ['X-Quotes', '"\\"\'`'],
      ['x-Wide', '\u65e5\u672c \u{1f600}'],
    ],
  },
};

/** Changes everything that can be reached through a response. */
function spoil(response: KeptResponse): void {
  const lines = response.headers as unknown as string[][];
  for (const line of lines) line[1] = 'spoilt';
  lines.length = 1;
  (response.removedNames as string[]).push('spoilt');
  (response as { status: number }).status = 599;
  response.body.fill(0x21);
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null)?.code ?? error;
}
