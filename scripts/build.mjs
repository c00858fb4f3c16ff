// The package is built by the compiler alone, twice: one output file for each source file, so that
// stack traces and source maps lead back to src/.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { run } from './run.mjs';

const TO_COMMONJS = '--outDir dist/cjs --module commonjs --moduleResolution bundler';

rmSync('dist', { recursive: true, force: true });
run('tsc', ['-p', '.']);
run('tsc', ['-p', '.', ...TO_COMMONJS.split(' '), '--verbatimModuleSyntax', 'false']);

// The package says "type": "module"; this says that the files beside it are not.
mkdirSync('dist/cjs', { recursive: true });
writeFileSync('dist/cjs/package.json', '{ "type": "commonjs" }\n');
