import type { SavedResponse } from '../core/saved-response.ts';

/** Tenant, operation and key; what the record is kept under; the SHA-256 of that, in hex. */
export interface RecordKeyVector {
  readonly tenant: string | undefined;
  readonly operation: string | undefined;
  readonly key: string;
  readonly recordKey: string;
  readonly digest: string;
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
