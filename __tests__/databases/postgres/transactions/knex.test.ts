import { describeTransactions } from './describe-transactions.ts';
import { KNEX } from './libraries/knex.ts';

describeTransactions(KNEX);
