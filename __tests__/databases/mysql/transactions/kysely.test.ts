import { describeTransactions } from './describe-transactions.ts';
import { connectKysely } from './libraries.ts';

describeTransactions(connectKysely);
