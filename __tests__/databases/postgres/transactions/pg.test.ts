import { describeTransactions } from './describe-transactions.ts';
import { PG } from './libraries/pg.ts';

describeTransactions(PG);
