import { PostgresServer } from '../../servers/postgres.ts';
import { COMMIT_RULES } from './commit-rules.ts';
import { END_RULES } from './end-rules.ts';
import { FAULT_RULES } from './fault-rules.ts';
import type { LibraryUnderTest } from './libraries/library.ts';
import { TransactionRig } from './rig.ts';

/** What the transactions of every library keep to, on a real server, a test a rule. */
export function describeTransactions<T>(library: LibraryUnderTest<T>): void {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.stop());

  for (const { rule, max, check } of [...COMMIT_RULES, ...END_RULES, ...FAULT_RULES]) {
    test(`${rule}`, async () => {
      const rig = await TransactionRig.make(server, library, max);
      try {
        await check(rig);
      } finally {
        await rig.close();
      }
    });
  }
}
