// What the tests of the protocol and of Express reach in src/core and src/express, as a table. A
// branch that none of them takes fails, unless a comment beside it says why it cannot be taken.
import { run } from './run.mjs';

const TESTS = ['core', 'http', 'recovery', 'properties'].map((each) => `__tests__/${each}/`);

run('jest', ['--coverage', '--silent', ...TESTS]);
