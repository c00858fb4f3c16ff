import assert from 'node:assert/strict';
import { fingerprintOf } from '../core/fingerprint.ts';
import { recordKey, recordKeyDigest } from '../core/record-key.ts';
import { decodeSavedResponse, encodeHead, encodeSavedResponse } from '../core/saved-response.ts';
import { contractCase, type StoreContractCase } from './contract-case.ts';
import { anyResponse, assertRejects, assertSameResponse, Scene } from './contract-scene.ts';
import {
  FINGERPRINT_VECTORS,
  RECORD_KEY_VECTORS,
  SAVED_RESPONSE_VECTORS,
} from './golden-vectors.ts';

const EMPTY = new Uint8Array(0);

/** What is in users' databases stays readable, and what is not readable is not lost. */
export const FORMAT_RULES: readonly StoreContractCase[] = [
  contractCase('record keys are the ones of every version', [], async () => {
    for (const { tenant, operation, key, ...expected } of RECORD_KEY_VECTORS) {
      const actual = recordKey(tenant, operation, key);
      assert.equal(actual, expected.recordKey);
      assert.equal(recordKeyDigest(actual).toString('hex'), expected.digest);
    }
  }),

  contractCase('fingerprints are the ones of every version', [], async () => {
    for (const { parts, fingerprint } of FINGERPRINT_VECTORS) {
      assert.equal(fingerprintOf(parts), fingerprint);
    }
  }),

  contractCase('saved responses are encoded as in every version', [], async () => {
    for (const { response, head, encoded } of SAVED_RESPONSE_VECTORS) {
      assert.equal(encodeHead(response), head);
      assert.equal(encodeSavedResponse(response).toString('hex'), encoded);
      assertSameResponse(decodeSavedResponse(Buffer.from(encoded, 'hex')), response);
    }
  }),

  contractCase(
    'a record that version 1 wrote is replayed',
    ['overwriteSaved'],
    async (makeStore) => {
      const scene = new Scene(await makeStore());
      await scene.finish('A', anyResponse());
      for (const { response, head } of SAVED_RESPONSE_VECTORS) {
        await makeStore.overwriteSaved?.('k', head, response.kept ? response.body : EMPTY);
        await scene.expectReplay(response, 'B');
      }
    },
  ),

  contractCase(
    'a record that cannot be read is refused, and kept',
    ['overwriteSaved'],
    async (makeStore) => {
      const scene = new Scene(await makeStore());
      const { body } = anyResponse();
      await scene.finish('A', anyResponse());
      for (const head of UNREADABLE_HEADS) {
        await makeStore.overwriteSaved?.('k', head, body);
        await assertRejects(scene.claim('B'), 'record_corrupt');
        await assertRejects(scene.claim('A'), 'record_corrupt');
        await scene.expectConflict('B');
        await scene.complete('A', anyResponse('again'));
        await scene.release('A');
        await assertRejects(scene.claim('B'), 'record_corrupt');
      }
      await makeStore.overwriteSaved?.('k', encodeHead(anyResponse()), body);
      await scene.expectReplay(anyResponse(), 'B');
    },
  ),
];

const UNREADABLE_HEADS: readonly string[] = [
  '',
  'not JSON',
  '{"v":1,"status":201,"head',
  'null',
  '[]',
  '{}',
  // A version that is not known yet.
  '{"v":2,"status":201,"headers":[],"removedNames":[]}',
  '{"v":"1","status":201,"headers":[],"removedNames":[]}',
  '{"v":1,"status":99,"headers":[],"removedNames":[]}',
  '{"v":1,"status":"201","headers":[],"removedNames":[]}',
  '{"v":1,"status":201,"headers":{},"removedNames":[]}',
  '{"v":1,"status":201,"headers":[["ETag"]],"removedNames":[]}',
  '{"v":1,"status":201,"headers":[["ETag",1]],"removedNames":[]}',
  '{"v":1,"status":201,"headers":[["ETag","a","moved"]],"removedNames":[]}',
  '{"v":1,"status":201,"headers":[],"removedNames":"none"}',
  '{"v":1,"status":201,"headers":[]}',
];
