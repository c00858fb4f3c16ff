import { describeTransactions } from './describe-transactions.ts';
import { DRIZZLE_POSTGRES_JS } from './libraries/drizzle.ts';

describeTransactions(DRIZZLE_POSTGRES_JS);
