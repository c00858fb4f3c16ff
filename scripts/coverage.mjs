// What the tests of the protocol and of Express reach in src/core and src/express, as a table. A
// branch that none of them takes fails, unless a comment beside it says why it cannot be taken.
import { run } from './run.mjs';
import { ON_ANY_NODE } from './suites.mjs';

run('jest', ['--coverage', '--silent', ...ON_ANY_NODE]);
