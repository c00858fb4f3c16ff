import { describeTransactions } from './describe-transactions.ts';
import { SEQUELIZE } from './libraries/sequelize.ts';

describeTransactions(SEQUELIZE);
