import { describeTransactions } from './describe-transactions.ts';
import { DRIZZLE_PG } from './libraries/drizzle.ts';

describeTransactions(DRIZZLE_PG);
