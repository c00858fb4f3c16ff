import { SettableClock, type StoreUnderTest } from '../../src/testing/index.ts';
import { answeringTests } from './answering-tests.ts';
import { auditTests } from './audit-tests.ts';
import { findingTests } from './finding-tests.ts';
import { leaseTests } from './lease-tests.ts';
import { OperatorScene } from './operator-scene.ts';

export interface StoreForTest {
  readonly store: StoreUnderTest;
  close(): Promise<void>;
}

/** What an operator can do on any store that lists, inspects and settles. */
export function describeOperator(
  name: string,
  open: (clock: SettableClock) => Promise<StoreForTest>,
): void {
  const scenes: OperatorScene[] = [];
  afterEach(async () => {
    for (const scene of scenes.splice(0)) await scene.end();
  });

  async function setup() {
    const clock = new SettableClock();
    const { store, close } = await open(clock);
    const scene = new OperatorScene(clock, store, close);
    scenes.push(scene);
    return scene;
  }

  describe(name, () => {
    findingTests(setup);
    answeringTests(setup);
    leaseTests(setup);
    auditTests(setup);
  });
}
