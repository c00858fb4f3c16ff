// What the tests of the protocol and of Express reach in src/core and src/express, as a table. A
// branch that none of them takes fails, unless a comment beside it says why it cannot be taken.
import { run } from './run.mjs';

const ELSEWHERE = ['/node_modules/', '__tests__/tidy/', '__tests__/docs/', '__tests__/package/'];

run('jest', [
  '--coverage',
  '--silent',
  ...ELSEWHERE.flatMap((pattern) => ['--testPathIgnorePatterns', pattern]),
]);
