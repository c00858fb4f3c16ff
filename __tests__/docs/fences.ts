import { filesUnder, read, sourcesUnder } from '../tidy/source-tree.ts';

/** One fenced block of a document. */
export interface Fence {
  readonly path: string;
  /** The line of its first line of code, counted from 1. */
  readonly line: number;
  readonly language: string;
  /** Whether the info string says `no-run`. */
  readonly mayRun: boolean;
  readonly code: string;
}

/** The fences of README.md, the other documents at the root, and docs/. */
export function documentFences(): Fence[] {
  const documents = filesUnder('.').filter((path) => /^(docs\/.*|[^/]+)\.md$/.test(path));
  return documents.flatMap((path) => fencesOf(path, read(path).split('\n')));
}

/** The `@example`s in the comments of src. They are parts of a program: compiled, not run. */
export function commentFences(): Fence[] {
  return sourcesUnder('src').flatMap((path) => {
    const lines = read(path).split('\n');
    const comments = lines.map((line) => (/^\s*\*/.test(line) ? line.replace(/^\s*\* ?/, '') : ''));
    return fencesOf(path, comments).map((fence) => ({ ...fence, mayRun: false }));
  });
}

function fencesOf(path: string, lines: readonly string[]): Fence[] {
  const fences: Fence[] = [];
  for (let start = 0; start < lines.length; start += 1) {
    const [, indent, info] = /^(\s*)```(\S.*)$/.exec(lines[start] ?? '') ?? [];
    if (indent === undefined || info === undefined) continue;
    const end = lines.indexOf(`${indent}\`\`\``, start + 1);
    if (end === -1) throw new Error(`${path}:${start + 1} opens a fence that nothing closes`);
    const code = lines.slice(start + 1, end).map((line) => line.slice(indent.length));
    const [language = '', ...words] = info.split(/\s+/);
    fences.push({
      path,
      line: start + 2,
      language,
      mayRun: !words.includes('no-run'),
      code: `${code.join('\n')}\n`,
    });
    start = end;
  }
  return fences;
}
