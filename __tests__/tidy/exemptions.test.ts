import { read, sourcesUnder } from './source-tree.ts';

const RULES = [
  'istanbul ignore \\w+',
  'v8 ignore \\w+',
  'biome-ignore(?:-\\w+)? [\\w/]+',
  '@ts-expect-error',
  '@ts-ignore',
];
const EXEMPTION = new RegExp(`/[/*]\\s*(${RULES.join('|')})(.*)`);

interface Exemption {
  readonly place: string;
  readonly rule: string;
  readonly reason: string;
}

function setup(): Exemption[] {
  return sourcesUnder('src', '__tests__', 'bench').flatMap((path) =>
    read(path)
      .split('\n')
      .flatMap((line, index) => {
        const [, rule, rest] = EXEMPTION.exec(line) ?? [];
        if (rule === undefined || rest === undefined) return [];
        const reason = rest.replace(/\*\/.*$/, '').replace(/^[\s:-]+/, '');
        return [{ place: `${path}:${index + 1}`, rule, reason }];
      }),
  );
}

test('an exemption from the compiler, the linter or the coverage says why', () => {
  const exemptions = setup();
  const bare = exemptions.filter(({ reason }) => reason.trim().split(/\s+/).length < 3);
  expect(bare).toEqual([]);
  expect(exemptions.length).toBeGreaterThan(0);
});

test('no exemption covers a whole file, or outlives its reason unnoticed', () => {
  const lasting = /^(@ts-ignore|v8 ignore|istanbul ignore file)/;
  expect(setup().filter(({ rule }) => lasting.test(rule))).toEqual([]);
});
