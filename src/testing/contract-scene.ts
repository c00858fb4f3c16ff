import assert from 'node:assert/strict';
import type { KeptResponse, SavedResponse } from '../core/saved-response.ts';
import type { Attempt, Claim, StoreCall } from '../core/store.ts';
import type { StoreUnderTest } from './contract-case.ts';

/** What a call of a {@link Scene} may say other than the usual. */
export interface SceneCall {
  /** Default: `k`. */
  readonly key?: string;
  /** Default: `f`. */
  readonly fingerprint?: string;
  /** How long the owner's lease is to be. Default: none. */
  readonly leaseMs?: number;
  /** Whether the client is gone. */
  readonly clientGone?: boolean;
  /** Whether the deadline of the call has passed already. */
  readonly late?: boolean;
}

/** A store, called in few words: who calls, and what is unusual about it. */
export class Scene {
  readonly store: StoreUnderTest;

  constructor(store: StoreUnderTest) {
    this.store = store;
  }

  claim(owner: string, said: SceneCall = {}): Promise<Claim> {
    const { key = 'k', fingerprint = 'f' } = said;
    return this.store.claim(key, fingerprint, attemptOf(owner, said), callOf(said));
  }

  complete(owner: string, response: SavedResponse, said: SceneCall = {}): Promise<void> {
    return this.store.complete(said.key ?? 'k', response, attemptOf(owner, said), callOf(said));
  }

  release(owner: string, said: SceneCall = {}): Promise<void> {
    return this.store.release(said.key ?? 'k', attemptOf(owner, said), callOf(said));
  }

  /** Claims as new and completes. */
  async finish(owner: string, response: SavedResponse, said: SceneCall = {}): Promise<void> {
    await this.expectNew(owner, said);
    await this.complete(owner, response, said);
  }

  async expectNew(owner: string, said: SceneCall = {}): Promise<void> {
    assert.deepEqual(plain(await this.claim(owner, said)), { kind: 'new', attempt: 1 });
  }

  async expectKind(kind: Claim['kind'], owner: string, said: SceneCall = {}): Promise<void> {
    assert.equal((await this.claim(owner, said)).kind, kind);
  }

  async expectReplay(response: SavedResponse, owner: string, said: SceneCall = {}): Promise<void> {
    const claim = await this.claim(owner, said);
    assert.equal(claim.kind, 'replay');
    if (claim.kind === 'replay') assertSameResponse(claim.response, response);
  }

  /** Another fingerprint is a conflict, whatever the state, and changes nothing. */
  async expectConflict(owner: string, said: SceneCall = {}): Promise<void> {
    const other = { ...said, fingerprint: 'another fingerprint' };
    assert.deepEqual(plain(await this.claim(owner, other)), { kind: 'conflict' });
  }
}

/** An answer with two values of one header, as every rule that needs just any answer takes it. */
export function anyResponse(body = '{"label":901}'): KeptResponse {
  return {
    kept: true,
    status: 201,
    headers: [
      ['Content-Type', 'application/json'],
      ['ETag', '"label-901-v1"'],
      ['ETag', '"backup"'],
    ],
    removedNames: [],
    body: Buffer.from(body),
  };
}

/** Same status, reason, header lines, removed names and bytes; the objects may differ. */
export function assertSameResponse(actual: SavedResponse, expected: SavedResponse): void {
  assert.equal(headOf(actual), headOf(expected));
  if (!actual.kept || !expected.kept) return;
  assert.equal(actual.body.byteLength, expected.body.byteLength, 'another number of bytes');
  assert.equal(Buffer.compare(actual.body, expected.body), 0, 'other bytes');
}

/** Asserts that a call is refused with an error of this code, and not with anything else. */
export async function assertRejects(call: Promise<unknown>, code: string): Promise<void> {
  await assert.rejects(call, (error: unknown) => {
    assert.equal((error as { readonly code?: unknown } | null)?.code, code, String(error));
    return true;
  });
}

/** The context of an attempt of `owner`. */
export function attemptOf(owner: string, said: SceneCall = {}): Attempt {
  const { key = 'k', fingerprint = 'f', leaseMs, clientGone = false } = said;
  return {
    key,
    recordKey: key,
    tenant: undefined,
    operation: 'POST /labels',
    fingerprint,
    owner,
    attempt: 1,
    leaseMs,
    signal: clientGone ? AbortSignal.abort() : new AbortController().signal,
  };
}

/** A deadline that is far away, or past. */
export function callOf(said: SceneCall = {}): StoreCall {
  if (said.late === true) return { signal: AbortSignal.abort(), timeoutMs: 1 };
  return { signal: new AbortController().signal, timeoutMs: 30_000 };
}

function headOf(response: SavedResponse): string {
  if (!response.kept) return JSON.stringify([false, response.status]);
  const { status, reason = null, headers, removedNames } = response;
  return JSON.stringify([true, status, reason, headers, removedNames]);
}

/** Without a prototype: values may come from another realm. */
function plain(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}
