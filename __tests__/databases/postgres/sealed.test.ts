import { describeSealed } from '../sql/describe-sealed.ts';
import { serverForAll } from '../sql/sql-database.ts';
import { startPostgres } from './start-postgres.ts';

describeSealed(serverForAll(startPostgres));
