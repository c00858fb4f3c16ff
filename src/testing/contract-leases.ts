import assert from 'node:assert/strict';
import type { TakeOver } from '../core/recovery-capabilities.ts';
import { contractCase, type StoreContractCase } from './contract-case.ts';
import {
  anyResponse,
  assertRejects,
  attemptOf,
  callOf,
  Scene,
  type SceneCall,
} from './contract-scene.ts';

const LEASE_MS = 60_000;
const LEASED = { leaseMs: LEASE_MS };
const TEN_YEARS_MS = 3_650 * 24 * 3_600_000;

/** Leases, and who may take over what, where that is offered. */
export const LEASE_RULES: readonly StoreContractCase[] = [
  contractCase('the end of a lease frees nothing', [], async (makeStore, clock) => {
    const scene = new Scene(await makeStore());
    await scene.expectNew('A', LEASED);
    await clock.advance(TEN_YEARS_MS);
    await scene.expectKind('pending', 'B', LEASED);
    await scene.expectConflict('B', LEASED);
    await scene.expectNew('A', LEASED);
    await scene.complete('A', anyResponse());
    await scene.expectReplay(anyResponse(), 'B');
  }),

  contractCase(
    'a record is taken over when its lease is over, and its number counts up',
    ['takeOver'],
    async (makeStore, clock) => {
      const scene = new Scene(await makeStore());
      await scene.expectNew('A', LEASED);
      await clock.advance(LEASE_MS - 1_000);
      await expectTakeOver(scene, { kind: 'not-taken' }, 'B');
      await expectLeaseOver(scene, false);
      await clock.advance(1_000);
      await expectLeaseOver(scene, true);
      await expectTakeOver(scene, { kind: 'taken', attempt: 2 }, 'B');
      await expectTakeOver(scene, { kind: 'not-taken' }, 'C');
      await clock.advance(LEASE_MS);
      await expectTakeOver(scene, { kind: 'taken', attempt: 3 }, 'C');
    },
  ),

  contractCase(
    'a takeover whose reply was lost is taken again, with its number',
    ['takeOver'],
    async (makeStore, clock) => {
      const scene = new Scene(await makeStore());
      await scene.expectNew('A', LEASED);
      await clock.advance(LEASE_MS);
      await expectTakeOver(scene, { kind: 'taken', attempt: 2 }, 'B');
      await expectTakeOver(scene, { kind: 'taken', attempt: 2 }, 'B');
      const claim = await scene.claim('B', LEASED);
      assert.ok(claim.kind === 'new');
      assert.equal(claim.attempt, 2);
    },
  ),

  contractCase(
    'an owner that was taken over from is fenced, and its release does nothing',
    ['takeOver'],
    async (makeStore, clock) => {
      const scene = new Scene(await makeStore());
      await scene.expectNew('A', LEASED);
      await clock.advance(LEASE_MS);
      await expectTakeOver(scene, { kind: 'taken', attempt: 2 }, 'B');
      await assertRejects(scene.complete('A', anyResponse('of A')), 'fenced');
      await scene.release('A');
      await scene.expectKind('pending', 'A');
      await scene.complete('B', anyResponse('of B'));
      await assertRejects(scene.complete('A', anyResponse('of A')), 'fenced');
      await scene.expectReplay(anyResponse('of B'), 'A');
    },
  ),

  contractCase(
    'release of a record that was taken over only ends its lease',
    ['takeOver'],
    async (makeStore, clock) => {
      const scene = new Scene(await makeStore());
      await scene.expectNew('A', LEASED);
      await clock.advance(LEASE_MS);
      await expectTakeOver(scene, { kind: 'taken', attempt: 2 }, 'B');
      await scene.release('B');
      await scene.expectKind('pending', 'C', LEASED);
      await scene.expectConflict('C');
      await expectTakeOver(scene, { kind: 'taken', attempt: 3 }, 'C');
      await scene.complete('C', anyResponse());
    },
  ),

  contractCase(
    'what is absent, finished, of another fingerprint or without a lease is not taken',
    ['takeOver'],
    async (makeStore, clock) => {
      const scene = new Scene(await makeStore());
      await scene.finish('A', anyResponse(), { key: 'finished', ...LEASED });
      await scene.expectNew('A', { key: 'of another fingerprint', ...LEASED });
      await scene.expectNew('A', { key: 'without a lease' });
      await clock.advance(LEASE_MS);
      const other = { key: 'of another fingerprint', fingerprint: 'another' };
      await expectTakeOver(scene, { kind: 'not-taken' }, 'B', other);
      for (const key of ['absent', 'finished', 'without a lease']) {
        await expectTakeOver(scene, { kind: 'not-taken' }, 'B', { key });
      }
      await scene.expectNew('B', { key: 'absent' });
      await scene.expectReplay(anyResponse(), 'B', { key: 'finished' });
    },
  ),

  contractCase(
    'the time in which a takeover is possible counts from the first claim',
    ['takeOver'],
    async (makeStore, clock) => {
      const scene = new Scene(await makeStore());
      const withinMs = 3 * LEASE_MS;
      await scene.expectNew('A', LEASED);
      await clock.advance(2 * LEASE_MS);
      await expectTakeOver(scene, { kind: 'taken', attempt: 2 }, 'B', { withinMs });
      await clock.advance(LEASE_MS + 1_000);
      await expectTakeOver(scene, { kind: 'too-late' }, 'C', { withinMs });
      await scene.complete('B', anyResponse());
    },
  ),

  contractCase(
    'of 16 parallel takeovers, over 2 connections, one takes',
    ['takeOver'],
    async (makeStore, clock) => {
      const scenes = [new Scene(await makeStore()), new Scene(await makeStore())] as const;
      for (const key of ['one', 'two', 'three']) {
        await scenes[0].expectNew('A', { key, ...LEASED });
        await clock.advance(LEASE_MS);
        const answers = await Promise.all(
          Array.from({ length: 16 }, (_, n) =>
            takeOver(n % 2 === 0 ? scenes[0] : scenes[1], `owner ${n}`, { key }),
          ),
        );
        assert.equal(answers.filter((answer) => answer?.kind === 'taken').length, 1);
      }
    },
  ),

  contractCase(
    'a renewed lease keeps others off, and only its owner renews it',
    ['renew', 'takeOver'],
    async (makeStore, clock) => {
      const scene = new Scene(await makeStore());
      await assertRejects(renew(scene, 'A'), 'fenced');
      await scene.expectNew('A', LEASED);
      await clock.advance(LEASE_MS - 1_000);
      await renew(scene, 'A');
      await renew(scene, 'A');
      await assertRejects(renew(scene, 'B'), 'fenced');
      await clock.advance(LEASE_MS - 1_000);
      await expectTakeOver(scene, { kind: 'not-taken' }, 'B');
      await clock.advance(2_000);
      // Over, but nobody has taken it: its owner lives after all.
      await renew(scene, 'A');
      await expectTakeOver(scene, { kind: 'not-taken' }, 'B');
      await clock.advance(LEASE_MS);
      await expectTakeOver(scene, { kind: 'taken', attempt: 2 }, 'B');
      await assertRejects(renew(scene, 'A'), 'fenced');
      await scene.complete('B', anyResponse());
      await assertRejects(renew(scene, 'B'), 'fenced');
      await scene.expectReplay(anyResponse(), 'C');
    },
  ),
];

async function takeOver(
  scene: Scene,
  owner: string,
  said: SceneCall & { readonly withinMs?: number } = {},
): Promise<TakeOver | undefined> {
  const { key = 'k', fingerprint = 'f', withinMs } = said;
  const context = attemptOf(owner, { ...said, ...LEASED });
  const options = withinMs === undefined ? {} : { withinMs };
  return scene.store.takeOver?.(key, fingerprint, context, options, callOf());
}

async function expectTakeOver(
  scene: Scene,
  expected: TakeOver,
  ...call: [owner: string, said?: SceneCall & { readonly withinMs?: number }]
): Promise<void> {
  const answer = (await takeOver(scene, ...call)) as Partial<TakeOver & { attempt: number }>;
  assert.equal(answer.kind, expected.kind);
  if (expected.kind === 'taken') assert.equal(answer.attempt, expected.attempt);
}

/** Where `claim` tells whether the lease is over, it tells the truth. */
async function expectLeaseOver(scene: Scene, expected: boolean): Promise<void> {
  const claim = await scene.claim('another', LEASED);
  assert.equal(claim.kind, 'pending');
  if (claim.kind === 'pending') assert.equal(claim.leaseOver ?? expected, expected);
}

async function renew(scene: Scene, owner: string): Promise<void> {
  await scene.store.renew?.('k', LEASE_MS, attemptOf(owner), callOf());
}
