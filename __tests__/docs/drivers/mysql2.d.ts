// What examples import of mysql2/promise, as far as the stores see it.
import type { MySqlPool, MySqlTransactionPool } from '../../../src/stores/mysql/index.ts';

declare const mysql: {
  createPool(options: {
    readonly uri: string;
    readonly connectionLimit?: number;
  }): MySqlPool & MySqlTransactionPool<MySqlConnectionInExamples>;
};
export default mysql;
