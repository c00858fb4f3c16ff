import { describeCrash } from '../sql/describe-crash.ts';
import { startMariaDb } from './start-mariadb.ts';

const NEVER_FLUSHED = {
  'innodb-flush-log-at-trx-commit': '0',
  'innodb-flush-log-at-timeout': '60',
};

describeCrash({
  durable: startMariaDb,
  forgetful: {
    named: 'innodb_flush_log_at_trx_commit 0',
    start: () => startMariaDb(NEVER_FLUSHED),
  },
});
