import { ClaimVerb } from './claim.ts';
import { CompleteVerb } from './complete.ts';
import type { SqliteConnection } from './handle.ts';
import { InspectVerb } from './inspect.ts';
import { ListVerb } from './list.ts';
import { PruneVerb } from './prune.ts';
import { ReleaseVerb } from './release.ts';

/** The verbs of SQL, on one table. */
export class SqliteRecords {
  readonly claim: ClaimVerb;
  readonly complete: CompleteVerb;
  readonly release: ReleaseVerb;
  readonly inspect: InspectVerb;
  readonly list: ListVerb;
  readonly prune: PruneVerb;

  /** `table` is quoted already. */
  constructor(connection: SqliteConnection, table: string) {
    this.claim = new ClaimVerb(connection, table);
    this.complete = new CompleteVerb(connection, table);
    this.release = new ReleaseVerb(connection, table);
    this.inspect = new InspectVerb(connection, table);
    this.list = new ListVerb(connection, table);
    this.prune = new PruneVerb(connection, table);
  }
}
