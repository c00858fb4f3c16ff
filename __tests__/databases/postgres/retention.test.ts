import { describePruning, describeRetention } from '../sql/describe-retention.ts';
import { serverForAll } from '../sql/sql-database.ts';
import { startPostgres } from './start-postgres.ts';

const database = serverForAll(startPostgres);

describeRetention(database);
describePruning(database);
