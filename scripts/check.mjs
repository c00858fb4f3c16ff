// `npm run check` is the one command: everything that a change must pass. Each step runs, also
// after one that failed, so that one run tells all; --without-tests leaves the tests out where
// `npm test` has just run.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { exitCode, finished, run, TOOLS } from './run.mjs';
import { missing } from './suites.mjs';

const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));

const TYPESCRIPT_7 = 'node_modules/typescript-7/bin/tsc';
const PACKED = '.temp/check';
const TARBALL = `${PACKED}/${name}-${version}.tgz`;
/** Two lanes run beside each other; in a lane one step follows another. */
const LANES = [
  [
    ['format and lint', 'biome', ['check', '--error-on-warnings']],
    ['types of the sources, TypeScript 6', 'tsc', ['-p', '.', '--noEmit']],
    ['types of the tests, TypeScript 6', 'tsc', ['-p', '__tests__']],
    ['types of the sources, TypeScript 7', 'node', [TYPESCRIPT_7, '-p', '.', '--noEmit']],
    ['types of the tests, TypeScript 7', 'node', [TYPESCRIPT_7, '-p', '__tests__']],
  ],
  [
    ['build of both formats, packed', 'npm', ['pack', '--silent', '--pack-destination', PACKED]],
    ['package as publint sees it', 'publint', ['run', '--strict', TARBALL]],
    ['package as each resolution sees it', 'attw', [TARBALL, '--profile', 'node16']],
    ['public API as in etc/', 'node', ['scripts/api-report.mjs']],
    ['public names are documented', 'typedoc', ['--emit', 'none']],
    ['no dead files, exports or packages', 'knip', []],
  ],
];
const COVERAGE = ['coverage of core and express', 'node', ['scripts/coverage.mjs']];
/** `npm test` looks at the house rules, too. */
const TESTS = ['tests', 'node', ['scripts/test.mjs']];

if (missing().length > 0) {
  console.error(`The check needs what \`npm run test:set-up\` installs: ${missing().join('; ')}.`);
  process.exit(1);
}
if (!existsSync(`${TOOLS}/node_modules`)) run('npm', ['ci'], { cwd: TOOLS });
rmSync(PACKED, { recursive: true, force: true });
mkdirSync(PACKED, { recursive: true });
const withoutTests = process.argv.includes('--without-tests');
const results = (await Promise.all(LANES.map(checkInTurn))).flat();
results.push(checkAlone(COVERAGE));
if (!withoutTests) results.push(checkAlone(TESTS));
console.log('\nChecks');
for (const { name, code, seconds } of results) {
  console.log(`  ${code === 0 ? 'ok    ' : 'FAILED'} ${name}, ${seconds} s`);
}
const failed = results.filter(({ code }) => code !== 0).length;
console.log(`\nChecks: ${results.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

async function checkInTurn(lane) {
  const done = [];
  for (const [name, command, args] of lane) {
    const start = Date.now();
    const { code, printed } = await finished(command, args);
    console.log(`\n${name}\n${printed}`);
    done.push({ name, code, seconds: secondsSince(start) });
  }
  return done;
}

/** What takes all cores by itself, and says for minutes how far it has come. */
function checkAlone([name, command, args]) {
  console.log(`\n${name}`);
  const start = Date.now();
  const code = exitCode(command, args);
  return { name, code, seconds: secondsSince(start) };
}

function secondsSince(start) {
  return Math.round((Date.now() - start) / 1000);
}
