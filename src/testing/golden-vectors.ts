import type { SavedResponse } from '../core/saved-response.ts';

/** Tenant, operation and key; what the record is kept under; the SHA-256 of that, in hex. */
export interface RecordKeyVector {
  readonly tenant: string | undefined;
  readonly operation: string | undefined;
  readonly key: string;
  readonly recordKey: string;
  readonly digest: string;
}

/** The parts of a request that its fingerprint is made of, and the fingerprint. */
export interface FingerprintVector {
  readonly parts: readonly string[];
  readonly fingerprint: string;
}

/** What a downstream key is made of, and its two forms. */
export interface DownstreamKeyVector {
  readonly recordKey: string;
  readonly fingerprint: string;
  readonly name: string;
  readonly text: string;
  readonly uuid: string;
}

/** A response, its head as text, and all of it as bytes (in hex). */
export interface SavedResponseVector {
  readonly response: SavedResponse;
  readonly head: string;
  readonly encoded: string;
}

/**
 * Frozen: records that are kept today are found and read by every later version. A change here
 * re-keys, or makes unreadable, what users have in their databases.
 */
export const RECORD_KEY_VECTORS: readonly RecordKeyVector[] = [
  {
    tenant: undefined,
    operation: undefined,
    key: 'label-req-7',
    recordKey: 'label-req-7',
    digest: 'c73d58fa36fe07b555eaa174a1fcbf2c8a678a49242f88a3bd911a5937f86f7a',
  },
  {
    tenant: 'acme',
    operation: 'POST /labels',
    key: 'k-1',
    recordKey: '\u001ft4:acme\u001f\u001fo12:POST /labels\u001fk-1',
    digest: 'ea3140e266b1c386adba7768c484708da32afa51c76e1200ef9653384c994bd0',
  },
  {
    tenant: undefined,
    operation: 'POST /labels',
    key: 'k-1',
    recordKey: '\u001fo12:POST /labels\u001fk-1',
    digest: 'b5a5581445e531e439f480598657ec0f9f304f3dc1cb1c8850f0752b0fb5cc26',
  },
  {
    tenant: 'acme',
    operation: undefined,
    key: 'k-1',
    recordKey: '\u001ft4:acme\u001fk-1',
    digest: 'bf917ffb865f400d7dcec9d6800ac7f6db687baab79609fd38eb4d022831c5dd',
  },
  {
    tenant: 'a',
    operation: 'bc',
    key: 'd',
    recordKey: '\u001ft1:a\u001f\u001fo2:bc\u001fd',
    digest: 'a3ef0a445af1d1b6bb9fcc563b6708cefceca5c35f08d5ab757d2046a006d10f',
  },
  {
    tenant: 'ab',
    operation: 'c',
    key: 'd',
    recordKey: '\u001ft2:ab\u001f\u001fo1:c\u001fd',
    digest: 'd7665458fb795d6afba550107fcf61afd84c479526855710ea789667c40a5936',
  },
  {
    tenant: 'größe-株式会社',
    operation: 'PUT /v1/parcels/4',
    key: '"k"',
    recordKey: '\u001ft10:größe-株式会社\u001f\u001fo17:PUT /v1/parcels/4\u001f"k"',
    digest: '57798649593a35122c6eb30f7d92325f9ed80be0fb39025c3d517f5f7b792a31',
  },
];

/** Frozen, as {@link RECORD_KEY_VECTORS} are: another would make a conflict of each retry. */
export const FINGERPRINT_VECTORS: readonly FingerprintVector[] = [
  {
    parts: [],
    fingerprint: 'v1:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  },
  {
    parts: ['POST', '/labels', 'application/json', 'json', '{"a":1}'],
    fingerprint: 'v1:c40bb3d41f7fb95f2800b611ab79b051fe28912afd49bfe37138068acc825c91',
  },
  {
    parts: ['POST', '/größe?a=1', '', 'none'],
    fingerprint: 'v1:f129932366e27aa516100436fcaae905ebb1b93a6aa41e94c3c0132f4e206671',
  },
];

/**
 * Frozen: a provider that was given a key before an update recognises the one of the attempt that
 * comes after it. A change here makes a second effect of every run that an update interrupts.
 */
export const DOWNSTREAM_KEY_VECTORS: readonly DownstreamKeyVector[] = [
  {
    recordKey: 'label-req-7',
    fingerprint: 'f',
    name: 'carrier',
    text: '62IMUw29ii9UMH2dReeV99cL6Rrpw01Udv1_Rb2JdpE',
    uuid: 'eb620c53-0dbd-8a2f-9430-7d9d45e795f7',
  },
  {
    recordKey: '\u001ft4:acme\u001f\u001fo12:POST /labels\u001fk-1',
    fingerprint: `v1:${'0'.repeat(64)}`,
    name: 'carrier',
    text: 'Ou0BA3BiZI6u0QmOfGmh4gtJ3mfEMq6h6102mdodLbA',
    uuid: '3aed0103-7062-848e-aed1-098e7c69a1e2',
  },
  {
    recordKey: '\u001ft4:acme\u001f\u001fo12:POST /labels\u001fk-1',
    fingerprint: `v1:${'0'.repeat(64)}`,
    name: 'mail',
    text: '09JsUu-YKbokLCzhOxILUhSrdT0voLX1mtZdF4t7WLw',
    uuid: 'd3d26c52-ef98-89ba-a42c-2ce13b120b52',
  },
  {
    recordKey: 'k',
    fingerprint: 'f',
    name: 'a1:b',
    text: 'cdcoExA_8o9WuggXwNTuW3-e4M4M_UQimRW3tGHH0Q8',
    uuid: '71d72813-103f-828f-96ba-0817c0d4ee5b',
  },
  {
    recordKey: 'k',
    fingerprint: 'fa',
    name: '1:b',
    text: '6Xcg2N3zoG1fFf2QG0v29rmaYrvgzVQDAdbsb3KrU_k',
    uuid: 'e97720d8-ddf3-806d-9f15-fd901b4bf6f6',
  },
  {
    recordKey: 'größe-株式会社',
    fingerprint: 'f',
    name: 'Bürstenversand',
    text: 'm5MQNLfFdIq9L4Y4HUlA50r57sBaAtuqnG6LgSPK0jo',
    uuid: '9b931034-b7c5-848a-bd2f-86381d4940e7',
  },
];

const CREATED_HEAD =
  '{"v":1,"status":201,"headers":[["Content-Type","application/json"],' +
  '["ETag","\\"label-901-v1\\""],["ETag","\\"backup\\""]],"removedNames":[]}';
const ADDED_HEAD =
  '{"v":1,"status":200,"reason":"Très bien","headers":[["Set-Cookie","a=1","added"]],' +
  '"removedNames":["x-powered-by"]}';
const EMPTY_HEAD = '{"v":1,"status":204,"headers":[],"removedNames":[]}';
const UNKEPT_HEAD = '{"v":1,"status":201}';

/** Frozen, as {@link RECORD_KEY_VECTORS} are. */
export const SAVED_RESPONSE_VECTORS: readonly SavedResponseVector[] = [
  {
    response: {
      kept: true,
      status: 201,
      headers: [
        ['Content-Type', 'application/json'],
        ['ETag', '"label-901-v1"'],
        ['ETag', '"backup"'],
      ],
      removedNames: [],
      body: Buffer.from('{"state":"created"}'),
    },
    head: CREATED_HEAD,
    encoded: `0100000088${hex(CREATED_HEAD)}${hex('{"state":"created"}')}`,
  },
  {
    response: {
      kept: true,
      status: 200,
      reason: 'Très bien',
      headers: [['Set-Cookie', 'a=1', 'added']],
      removedNames: ['x-powered-by'],
      body: Uint8Array.of(0, 255, 10, 13),
    },
    head: ADDED_HEAD,
    encoded: `0100000073${hex(ADDED_HEAD)}00ff0a0d`,
  },
  {
    response: {
      kept: true,
      status: 204,
      headers: [],
      removedNames: [],
      body: new Uint8Array(0),
    },
    head: EMPTY_HEAD,
    encoded: `0100000033${hex(EMPTY_HEAD)}`,
  },
  {
    response: { kept: false, status: 201 },
    head: UNKEPT_HEAD,
    encoded: `0100000014${hex(UNKEPT_HEAD)}`,
  },
];

function hex(text: string): string {
  return Buffer.from(text).toString('hex');
}
