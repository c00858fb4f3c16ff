import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const CONSUMERS = resolve(__dirname, '../../.temp/consumers');
const MANIFEST = resolve(__dirname, '../../package.json');
const COMPILERS = join(CONSUMERS, 'compilers/node_modules');

/** The same program as an ES module, and as CommonJS where the resolution tells them apart. */
const RESOLUTIONS = {
  node16: { module: 'node16', files: ['typed.mts', 'typed.cts', 'entries.mts'] },
  bundler: { module: 'esnext', files: ['typed.mts', 'entries.mts'] },
} as const;

interface Case {
  readonly compiler: string;
  readonly project: string;
  readonly resolution: keyof typeof RESOLUTIONS;
}

const cases: Case[] = readdirSync(COMPILERS)
  .filter((name) => name.startsWith('typescript-'))
  .flatMap((compiler) =>
    ['express-4', 'express-5'].flatMap((project) =>
      (['node16', 'bundler'] as const).map((resolution) => ({ compiler, project, resolution })),
    ),
  );

/** What the compiler says to a strict user, with every declaration file checked too. */
function setup({ compiler, project, resolution }: Case): string {
  const cwd = join(CONSUMERS, project);
  const { module, files } = RESOLUTIONS[resolution];
  writeFileSync(join(cwd, 'typed.cts'), readFileSync(join(cwd, 'typed.mts')));
  writeFileSync(join(cwd, 'entries.mts'), everyEntry());
  const config = `tsconfig-${compiler}-${resolution}.json`;
  const compilerOptions = {
    module,
    moduleResolution: resolution,
    target: 'es2022',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    esModuleInterop: true,
    noEmit: true,
  };
  writeFileSync(join(cwd, config), JSON.stringify({ compilerOptions, files }));
  const tsc = join(COMPILERS, compiler, 'bin/tsc');
  const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', config], {
    cwd,
    encoding: 'utf8',
  });
  return status === 0 ? '' : stdout;
}

/** A program that imports every entry: their types may need no driver's types. */
function everyEntry(): string {
  const { exports } = JSON.parse(readFileSync(MANIFEST, 'utf8'));
  const entries = Object.keys(exports).filter((path) => path !== './package.json');
  const lines = entries.map(
    (path, index) => `export * as entry${index} from '${path.replace('.', 'express-idempotent')}';`,
  );
  return `${lines.join('\n')}\n`;
}

test.each(cases)(
  '$project types hold under $compiler with $resolution resolution',
  (one) => {
    expect(setup(one)).toBe('');
  },
  120_000,
);
