import { describeTransactions } from './describe-transactions.ts';
import { connectMysql2 } from './libraries.ts';

describeTransactions(connectMysql2);
