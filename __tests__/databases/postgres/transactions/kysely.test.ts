import { describeTransactions } from './describe-transactions.ts';
import { KYSELY } from './libraries/kysely.ts';

describeTransactions(KYSELY);
