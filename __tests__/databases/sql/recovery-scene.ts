import { SettableClock } from '../../../src/testing/index.ts';
import { attemptOf, callsOf, within } from '../calls.ts';
import { empty, type SqlDatabase } from './sql-database.ts';

/** An empty table, a clock to move, and a business table beside it. */
export async function setup(database: SqlDatabase) {
  await empty(database);
  await database.rows('create table labels (name varchar(10))');
  const clock = new SettableClock();
  const store = database.newStore({ now: clock.now });
  await store.migrate();
  const leased = { leaseMs: 1_000 };
  const claim = (owner: string, more: object = leased) =>
    store.claim('k', 'f', attemptOf(owner, more), within());
  const takeOver = (owner: string, options: { withinMs?: number } = {}, fingerprint = 'f') =>
    store.takeOver('k', fingerprint, attemptOf(owner, leased), options, within());
  const labels = () => database.rows('select name from labels');
  return { clock, store, ...callsOf(store), claim, takeOver, labels };
}
