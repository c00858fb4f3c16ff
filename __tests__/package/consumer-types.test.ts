import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const CONSUMERS = resolve(__dirname, '../../.temp/consumers');
const COMPILERS = join(CONSUMERS, 'compilers/node_modules');

const MODULES = {
  node16: { module: 'node16', moduleResolution: 'node16' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
} as const;

const cases = readdirSync(COMPILERS)
  .filter((name) => name.startsWith('typescript-'))
  .flatMap((compiler) =>
    ['express-4', 'express-5'].flatMap((project) =>
      (['node16', 'bundler'] as const).map((resolution) => ({ compiler, project, resolution })),
    ),
  );

interface Case {
  readonly compiler: string;
  readonly project: string;
  readonly resolution: keyof typeof MODULES;
}

/** Compiles the typed program as a strict user does, with every declaration file checked too. */
function setup({ compiler, project, resolution }: Case, files: readonly string[]) {
  const cwd = join(CONSUMERS, project);
  const config = `tsconfig-${compiler}-${resolution}-${files.join('-')}.json`;
  const compilerOptions = {
    ...MODULES[resolution],
    target: 'es2022',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    esModuleInterop: true,
    noEmit: true,
  };
  writeFileSync(join(cwd, config), JSON.stringify({ compilerOptions, files }));
  const { stdout } = spawnSync(
    process.execPath,
    [join(COMPILERS, compiler, 'bin/tsc'), '-p', config],
    { cwd, encoding: 'utf8' },
  );
  return stdout;
}

test.each(cases)(
  '$project types hold under $compiler with $resolution resolution',
  (one) => {
    expect(setup(one, ['typed.mts'])).toBe('');
  },
  60_000,
);

test.each(cases.filter(({ resolution }) => resolution === 'node16'))(
  '$project types hold for a CommonJS file under $compiler',
  (one) => {
    const source = readFileSync(join(CONSUMERS, one.project, 'typed.mts'), 'utf8');
    writeFileSync(join(CONSUMERS, one.project, 'typed.cts'), source);
    expect(setup(one, ['typed.cts'])).toBe('');
  },
  60_000,
);
