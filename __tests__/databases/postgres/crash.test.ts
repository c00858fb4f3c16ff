import { describeCrash } from '../sql/describe-crash.ts';
import { startPostgres } from './start-postgres.ts';

describeCrash({
  durable: startPostgres,
  forgetful: {
    named: 'synchronous_commit off',
    start: () => startPostgres({ synchronous_commit: 'off', wal_writer_delay: '10s' }),
  },
});
