import { spawnSync } from 'node:child_process';
import { read } from '../tidy/source-tree.ts';
import { diagnose, writeFences } from './compile.ts';
import { commentFences, documentFences, type Fence } from './fences.ts';
import { type Example, runExample } from './run-example.ts';

const isCode = ({ language }: Fence) => language === 'ts' || language === 'js';

/** A program, with what the document says that it prints, and the commands tried against it. */
function examplesOf(fences: readonly Fence[]): Example[] {
  return fences.flatMap((program, index) => {
    if (!isCode(program) || !program.mayRun) return [];
    const following = fences.slice(index + 1).filter(({ path }) => path === program.path);
    const end = following.findIndex((fence) => !['text', 'sh'].includes(fence.language));
    return [{ program, after: end === -1 ? following : following.slice(0, end) }];
  });
}

const documents = documentFences();
const examples = examplesOf(documents);
const files = writeFences([...documents, ...commentFences()].filter(isCode));
const fileOf = (fence: Fence) => [...files].find(([, one]) => one === fence)?.[0] ?? '';

test('every example in the documents and in the comments of src compiles', () => {
  expect(diagnose(files)).toEqual([]);
}, 60_000);

test.each(examples.map((example) => [placeOf(example.program), example] as const))(
  '%s runs, and prints what the document says',
  async (_place, example) => {
    const { printed, expected } = await runExample(fileOf(example.program), example);
    expect(printed).toEqual(expected);
  },
  120_000,
);

test('README.md begins with a program that runs', () => {
  expect(examples.map(({ program }) => program.path)).toContain('README.md');
});

test('every command line in the documents is one that the shell and npm know', () => {
  const { scripts } = JSON.parse(read('package.json'));
  const unknown = documents
    .filter(({ language }) => language === 'sh')
    .flatMap((fence) => complaints(fence, scripts).map((what) => `${placeOf(fence)}: ${what}`));
  expect(unknown).toEqual([]);
});

function complaints({ code }: Fence, scripts: Record<string, string>): string[] {
  const { stderr } = spawnSync('bash', ['-n'], { input: code, encoding: 'utf8' });
  const named = [...code.matchAll(/\bnpm (?:run ([\w:-]+)|(test|start)\b)/g)];
  const missing = named.flatMap(([, script, short]) => {
    const name = script ?? short ?? '';
    return name in scripts ? [] : [`package.json has no script "${name}"`];
  });
  return stderr === '' ? missing : [stderr, ...missing];
}

function placeOf({ path, line }: Fence): string {
  return `${path}:${line}`;
}
