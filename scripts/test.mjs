// `npm test` runs every suite whose set-up is there and names the others in its last lines.
// `npm test -- <jest arguments>` runs jest with them, on this Node alone.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from './run.mjs';
import { missing, suites } from './suites.mjs';

const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');
const REPORTS = join(ROOT, '.temp/test');
/** A suite that hangs has failed: it must not hold up the others, nor a whole CI run. */
const DEADLINE_MS = 20 * 60_000;
const mayBeMissing = process.env.CI !== 'true';
const args = process.argv.slice(2);

if (args.length > 0) run(process.execPath, [JEST, ...args]);
else process.exitCode = runAll();

function runAll() {
  rmSync(REPORTS, { recursive: true, force: true });
  mkdirSync(REPORTS, { recursive: true });
  return report(suites().map(runSuite), missing());
}

function runSuite({ name, node, args }, index) {
  console.log(`\n${name}`);
  const outputFile = join(REPORTS, `${index}.json`);
  const { status } = spawnSync(node.path, [JEST, ...args, '--json', '--outputFile', outputFile], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, EXPECTED_NODE: node.version },
    timeout: DEADLINE_MS,
    killSignal: 'SIGKILL',
  });
  return { name, ...outcome(status, outputFile) };
}

/** A suite that ends without a report, or with one that counts no test, has failed. */
function outcome(status, outputFile) {
  let report;
  try {
    report = JSON.parse(readFileSync(outputFile, 'utf8'));
  } catch {
    return { ok: false, passed: 0, failed: 1, skipped: 0, seconds: 0 };
  }
  const passed = report.numPassedTests;
  const brokenFiles = report.testResults.filter(
    (file) =>
      file.status === 'failed' && file.assertionResults.every((one) => one.status !== 'failed'),
  ).length;
  return {
    ok: status === 0 && passed > 0,
    passed,
    failed: report.numFailedTests + brokenFiles,
    skipped: report.numPendingTests + report.numTodoTests,
    seconds: Math.round((Date.now() - report.startTime) / 1000),
  };
}

function report(results, left) {
  console.log('\nSuites');
  for (const { name, ok, passed, failed, skipped, seconds } of results) {
    const counts = `${passed} passed, ${failed} failed, ${skipped} skipped`;
    console.log(`  ${ok ? 'ok    ' : 'FAILED'} ${name}: ${counts}, ${seconds} s`);
  }
  const sum = (count) => results.reduce((total, result) => total + result[count], 0);
  const failed = sum('failed') + (mayBeMissing ? 0 : left.length);
  if (left.length > 0) reportMissing(left);
  const skipped = sum('skipped');
  const end = skipped > 0 ? `, ${skipped} skipped` : '';
  console.log(`\nTests: ${sum('passed')} passed, ${failed} failed${end}`);
  return failed === 0 && results.every(({ ok }) => ok) ? 0 : 1;
}

function reportMissing(left) {
  console.log('\nNot run, because what it needs is not installed:');
  for (const name of left) console.log(`  - ${name}`);
  console.log('To install it and run everything: npm run test:set-up && npm test');
  if (!mayBeMissing) console.log('With CI=true each of these counts as a failure.');
}
