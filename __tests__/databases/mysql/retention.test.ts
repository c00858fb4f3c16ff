import { describePruning, describeRetention } from '../sql/describe-retention.ts';
import { serverForAll } from '../sql/sql-database.ts';
import { startMariaDb } from './start-mariadb.ts';

const database = serverForAll(startMariaDb);

describeRetention(database);
describePruning(database);
