import { describeTransactions } from './describe-transactions.ts';
import { SEQUELIZE } from './libraries/sequelize.ts';

// Sequelize prints a warning for each commit and rollback that fails.
beforeAll(() => jest.spyOn(console, 'warn').mockImplementation(() => {}));

describeTransactions(SEQUELIZE);
