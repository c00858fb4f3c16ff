import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT, read } from '../tidy/source-tree.ts';
import type { Fence } from './fences.ts';

const FOLDER = join(ROOT, '.temp/examples');

/** Writes each fence to a file of its own, at the line numbers that it has in its document. */
export function writeFences(fences: readonly Fence[]): Map<string, Fence> {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  return new Map(
    fences.map((fence) => {
      const ending = fence.language === 'js' && /\brequire\(/.test(fence.code) ? 'cjs' : undefined;
      const name = `${fence.path.replaceAll(/[/.]/g, '-')}-${fence.line}`;
      const file = join(FOLDER, `${name}.${ending ?? fence.language}`);
      writeFileSync(file, '\n'.repeat(fence.line - 1) + fence.code);
      return [file, fence] as const;
    }),
  );
}

/** What the compiler says about those in TypeScript, as `document:line: sentence`. */
export function diagnose(files: ReadonlyMap<string, Fence>): string[] {
  const ambient = ['ambient', 'ambient-libraries'].map((name) =>
    join(ROOT, `__tests__/docs/${name}.d.ts`),
  );
  const typed = [...files.keys()].filter((file) => file.endsWith('.ts'));
  const program = ts.createProgram([...typed, ...ambient], compilerOptions());
  return ts.getPreEmitDiagnostics(program).map((diagnostic) => {
    const text = ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n');
    const { file, start = 0 } = diagnostic;
    if (file === undefined) return text;
    const { line } = file.getLineAndCharacterOfPosition(start);
    return `${files.get(file.fileName)?.path ?? file.fileName}:${line + 1}: ${text}`;
  });
}

/** As strict as the strictest user, with the names of the package leading to src. */
function compilerOptions(): ts.CompilerOptions {
  const { compilerOptions } = JSON.parse(read('tsconfig.json'));
  const { options, errors } = ts.convertCompilerOptionsFromJson(compilerOptions, ROOT);
  if (errors.length > 0) throw new Error('tsconfig.json cannot be read');
  return {
    ...options,
    noEmit: true,
    declaration: false,
    declarationMap: false,
    isolatedDeclarations: false,
    rootDir: ROOT,
    moduleDetection: ts.ModuleDetectionKind.Force,
    paths: { ...sourcePaths(), ...DRIVERS },
  };
}

const DRIVERS = Object.fromEntries(
  Object.entries({ pg: 'pg', 'mysql2/promise': 'mysql2', ioredis: 'ioredis' }).map(
    ([name, file]) => [name, [join(ROOT, `__tests__/docs/drivers/${file}.d.ts`)]],
  ),
);

function sourcePaths(): Record<string, string[]> {
  const { name, exports } = JSON.parse(read('package.json'));
  const entries = Object.keys(exports).filter((path) => path !== './package.json');
  return Object.fromEntries(
    entries.map((path) => {
      const built: string = exports[path].import.default;
      const source = built.replace('./dist/esm/', 'src/').replace(/\.js$/, '.ts');
      return [path.replace('.', name), [join(ROOT, source)]];
    }),
  );
}
