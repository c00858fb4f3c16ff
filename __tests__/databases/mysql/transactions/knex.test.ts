import { describeTransactions } from './describe-transactions.ts';
import { connectKnex } from './libraries.ts';

describeTransactions(connectKnex);
