import { describeTransactions } from './describe-transactions.ts';
import { TYPEORM } from './libraries/typeorm.ts';

describeTransactions(TYPEORM);
