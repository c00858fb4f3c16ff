import { LOST, type TransactionPoints } from '../../chaos/crash-case.ts';

/** The points of a transaction on a connection of its own: nobody else waits for it. */
export const IN_TRANSACTIONS: TransactionPoints = {
  points: [
    'after begin',
    'handler',
    'effect',
    'before completeIn',
    'after completeIn',
    'after commit',
  ],
  locking: [],
  losses: [['completeIn'], ['commit'], ['commit', 'inspect']],
  lossFates: LOST,
};
