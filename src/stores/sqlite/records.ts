import { ClaimVerb } from './claim.ts';
import { CompleteVerb } from './complete.ts';
import type { SqliteConnection } from './handle.ts';
import { InspectVerb } from './inspect.ts';
import { LeaseVerb } from './lease.ts';
import { ListVerb } from './list.ts';
import { PruneVerb } from './prune.ts';
import { ReleaseVerb } from './release.ts';
import { SettleVerb } from './settle.ts';

/** The verbs of SQL, on one table. */
export class SqliteRecords {
  readonly claim: ClaimVerb;
  readonly complete: CompleteVerb;
  readonly release: ReleaseVerb;
  readonly settle: SettleVerb;
  readonly inspect: InspectVerb;
  readonly lease: LeaseVerb;
  readonly list: ListVerb;
  readonly prune: PruneVerb;

  /** `table` is quoted already. */
  constructor(connection: SqliteConnection, table: string) {
    this.claim = new ClaimVerb(connection, table);
    this.complete = new CompleteVerb(connection, table);
    this.release = new ReleaseVerb(connection, table);
    this.inspect = new InspectVerb(connection, table);
    this.lease = new LeaseVerb(connection, table);
    this.list = new ListVerb(connection, table);
    this.prune = new PruneVerb(connection, table);
    this.settle = new SettleVerb(connection, table);
  }
}
