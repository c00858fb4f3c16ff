import { describeSealed } from '../sql/describe-sealed.ts';
import { serverForAll } from '../sql/sql-database.ts';
import { startMariaDb } from './start-mariadb.ts';

describeSealed(serverForAll(startMariaDb));
