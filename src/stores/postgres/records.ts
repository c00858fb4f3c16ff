import type { ResponseCodec } from '../response-columns.ts';
import type { Retention } from '../retention.ts';
import { ClaimVerb } from './claim.ts';
import { CompleteVerb } from './complete.ts';
import { InspectVerb } from './inspect.ts';
import { ListVerb } from './list.ts';
import { PruneVerb } from './prune.ts';
import { ReleaseVerb } from './release.ts';
import type { PostgresSession } from './session.ts';
import { SettleVerb } from './settle.ts';
import type { Table } from './table.ts';
import { LeaseVerbs } from './take-over.ts';

/** The verbs of SQL, on one table. */
export class PostgresRecords {
  readonly claim: ClaimVerb;
  readonly complete: CompleteVerb;
  readonly release: ReleaseVerb;
  readonly inspect: InspectVerb;
  readonly list: ListVerb;
  readonly leases: LeaseVerbs;
  readonly settle: SettleVerb;
  readonly prune: PruneVerb;

  constructor(session: PostgresSession, table: Table, codec: ResponseCodec, retention: Retention) {
    this.claim = new ClaimVerb(session, table, codec);
    this.complete = new CompleteVerb(session, table, retention);
    this.release = new ReleaseVerb(session, table);
    this.inspect = new InspectVerb(session, table, codec);
    this.list = new ListVerb(session, table);
    this.leases = new LeaseVerbs(session, table);
    this.settle = new SettleVerb(session, table, codec, retention);
    this.prune = new PruneVerb(session, table, retention);
  }
}
