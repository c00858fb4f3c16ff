// The public API as text, one file for each entry of the package: a change of it is seen in review.
// Compares what was built with etc/; with --write it writes etc/ anew.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT, TOOLS } from './run.mjs';

const { Extractor, ExtractorConfig } = createRequire(join(TOOLS, 'package.json'))(
  '@microsoft/api-extractor',
);

const write = process.argv.includes('--write');
const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
const entries = Object.entries(exports).filter(([path]) => path !== './package.json');

mkdirSync('.temp', { recursive: true });
mkdirSync('etc', { recursive: true });
const scratch = mkdtempSync(join(ROOT, '.temp/api-'));
const changed = entries.filter(([path, entry]) => !isSame(path, entry.import.types));
rmSync(scratch, { recursive: true, force: true });
if (changed.length > 0) {
  console.error('\nThe public API is not what etc/ says. If that is meant: npm run api-report');
  process.exit(1);
}

function isSame(path, types) {
  const name = path === '.' ? 'index' : path.slice(2);
  const config = ExtractorConfig.prepare({
    configObjectFullPath: join(ROOT, 'package.json'),
    packageJsonFullPath: join(ROOT, 'package.json'),
    configObject: {
      projectFolder: ROOT,
      mainEntryPointFilePath: join(ROOT, types),
      compiler: { tsconfigFilePath: join(ROOT, 'tsconfig.json') },
      apiReport: {
        enabled: true,
        reportFileName: name,
        reportFolder: join(ROOT, 'etc'),
        reportTempFolder: scratch,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      newlineKind: 'lf',
      messages: {
        compilerMessageReporting: { default: { logLevel: 'warning' } },
        extractorMessageReporting: {
          default: { logLevel: 'none' },
          'ae-forgotten-export': { logLevel: 'warning', addToApiReportFile: true },
        },
        tsdocMessageReporting: { default: { logLevel: 'none' } },
      },
    },
  });
  const { apiReportChanged, errorCount } = Extractor.invoke(config, {
    localBuild: write,
    showVerboseMessages: false,
    showDiagnostics: false,
  });
  if (apiReportChanged) console.error(`etc/${name}.api.md ${write ? 'written' : 'differs'}`);
  return errorCount === 0 && (write || !apiReportChanged);
}
