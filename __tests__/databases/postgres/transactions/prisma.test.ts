import { describeTransactions } from './describe-transactions.ts';
import { PRISMA } from './libraries/prisma.ts';

describeTransactions(PRISMA);
