import { describeTransactions } from './describe-transactions.ts';
import { POSTGRES_JS } from './libraries/postgres-js.ts';

describeTransactions(POSTGRES_JS);
