import { read, sourcesUnder } from './source-tree.ts';

const EXEMPTION =
  /\/[/*]\s*(istanbul ignore \w+|biome-ignore(?:-\w+)? [\w/]+|@ts-expect-error|@ts-ignore|v8 ignore \w+)(.*)/;

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

test('the compiler is never silenced for good, and coverage only by what it may be silenced by', () => {
  const lasting = setup().filter(({ rule }) =>
    /^(@ts-ignore|v8 ignore|istanbul ignore file)/.test(rule),
  );
  expect(lasting).toEqual([]);
});
