// What examples import of pg, as far as the stores see it: not everybody has it installed.
import type { KyselyPool, PgPool, PgTransactionPool } from '../../../src/stores/postgres/index.ts';

export declare const Pool: new () => PgPool & PgTransactionPool<PgClientInExamples> & KyselyPool;
