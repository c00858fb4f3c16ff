import { CommandFolder } from './command-folder.ts';
import { jsonLines } from './command-process.ts';

jest.setTimeout(60_000);

const SECRET = 's3cret';
const folders: CommandFolder[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

/** An empty project. `complaints` runs a command and answers all that it said. */
function setup() {
  const folder = new CommandFolder();
  folders.push(folder);
  async function complaints(
    args: readonly string[],
    env: NodeJS.ProcessEnv = { USER: 'operator' },
  ) {
    const { code, stdout, stderr } = await folder.run(args, env);
    return { code, said: (stdout + stderr).trimEnd() };
  }
  return { folder, complaints };
}

const ON = ['--store', 'sqlite:records.db'];
const SETTLE = ['settle', '12345678', ...ON, '--reason', 'x'];
const NO_COMMANDS: readonly (readonly [args: readonly string[], sentence: RegExp])[] = [
  [[], /Expected a command: pending, list, show, settle, prune\./],
  [['free'], /Expected a command/],
  [['pending'], /Expected --store, or IDEMPOTENCY_STORE, to be sqlite:<file>/],
  [['pending', '--store', 'records.db'], /got none of them\. For a file write sqlite:<file>\.$/m],
  [['pending', '--store', `mongodb://u:${SECRET}@host/db`], /got mongodb:\.$/m],
  [['pending', ...ON, '--schema', 'x'], /--schema is for postgres\./],
  [['pending', ...ON, '--stor', 'x'], /Unknown option '--stor'\. Did you mean --store\?$/m],
  [['pending', ...ON, 'label-req-7'], /Expected no argument of pending but its options/],
  [['pending', ...ON, '--older-than', '1 hour'], /such as 90s, 15min, 2h or 3d/],
  [['pending', ...ON, '--limit', '0'], /--limit to be a whole number from 1/],
  [['pending', ...ON, '--state', 'completed'], /Unknown option '--state'\.$/m],
  [['list', ...ON, '--state', 'gone'], /pending, completed or tombstone/],
  [['show', ...ON], /Expected one record/],
  [['show', '1234567', ...ON], /8 hex digits or more/],
  [['show', '12345678', ...ON, '--key', 'k'], /Expected one record/],
  [['show', ...ON, '--operation', 'POST /labels'], /Expected one record/],
  [['prune', ...ON, '--batch-size', 'all'], /--batch-size to be a whole number/],
  [SETTLE, /one of --done <status>, --never-started and --unknown/],
  [[...SETTLE, '--done', '201', '--unknown'], /one of --done/],
  [[...SETTLE, '--done', '1'], /the status of the answer, from 200 to 599/],
  [[...SETTLE, '--done', '201', '--body-file', 'none.json'], /Expected --content-type/],
  [[...SETTLE, '--done', '201', '--header', 'Location'], /a line such as 'Location: /],
  [[...SETTLE, '--done', '201', '--header', 'Content-Length: 3'], /no content-length line/],
  [[...SETTLE, '--unknown', '--content-type', 'text/plain'], /--content-type is for --done/],
  [['settle', '12345678', ...ON, '--unknown'], /Expected --reason/],
  [[...SETTLE, '--unknown', '--by', ' '], /Expected --by/],
];

test.each(NO_COMMANDS)('%j is no command, which is said in a sentence', async (args, sentence) => {
  const { complaints } = setup();
  const { code, said } = await complaints(args);
  expect(said).toMatch(sentence);
  expect(said).not.toContain(SECRET);
  expect(code).toBe(2);
});

test('an operator without a name is asked for one', async () => {
  const { complaints } = setup();
  const { code, said } = await complaints([...SETTLE, '--unknown'], {});
  expect([code, said]).toEqual([2, expect.stringContaining('Expected --by: your name.')]);
});

test('--help says how to call it, in a process of its own', async () => {
  const { folder } = setup();
  const { code, stdout, stderr } = await folder.spawn(['--help']);
  expect([code, stderr]).toEqual([0, '']);
  for (const word of ['pending', 'list', 'show', 'settle', 'prune', '--store', '--never-started']) {
    expect(stdout).toContain(word);
  }
  expect(await folder.spawn(['free'])).toMatchObject({ code: 2, stdout: '' });
});

test('a file that is not there is not made', async () => {
  const { folder, complaints } = setup();
  const { code, said } = await complaints(['pending', ...ON]);
  expect([code, said]).toEqual([1, 'express-idempotent: There is no file records.db.']);
  expect((await complaints(['pending', ...ON])).code).toBe(1);
  folder.write('records.db', '');
  const empty = await folder.spawn(['pending']);
  expect(empty).toMatchObject({ code: 1, stderr: expect.stringContaining('has no tables of') });
});

test('a driver that is not there is named, and nothing of the address', async () => {
  const { complaints } = setup();
  for (const [url, name] of [
    [`postgres://u:${SECRET}@host/db`, 'pg'],
    [`redis://u:${SECRET}@host`, 'ioredis'],
  ]) {
    const { code, said } = await complaints(['pending', '--store', String(url)]);
    expect(code).toBe(1);
    expect(said).toContain(`or \`npm install ${name}\` in it.`);
    expect(said).not.toContain(SECRET);
  }
});

const MODULE = `
const record = {
  recordKey: 'k', key: 'k', tenant: undefined, operation: undefined, state: 'pending',
  fingerprint: 'f', owner: 'A', attempt: 1, createdAtMs: 0, leaseUntilMs: undefined,
};
const refuse = async () => { throw new Error('not for operators'); };
export default async () => ({
  claim: refuse, complete: refuse, release: refuse,
  list: async ({ after }) => ({ records: [record], after: after ? undefined : 'more' }),
  [Symbol.asyncDispose]: async () => console.error('closed'),
});
setInterval(() => {}, 1_000);
`;

test('a module can say what no address can, and is closed at the end', async () => {
  const { folder } = setup();
  folder.write('store.mjs', MODULE);
  const listed = await folder.spawn(['pending', '--store', 'module:./store.mjs', '--json']);
  expect(jsonLines(listed)).toMatchObject([{ key: 'k' }, { key: 'k' }]);
  expect(listed).toMatchObject({ code: 0, stderr: 'closed\n' });
  const settling = ['settle', '--key', 'k', '--unknown', '--reason', 'x'];
  const settled = await folder.spawn([...settling, '--store', 'module:./store.mjs']);
  expect(settled.stderr).toContain('Expected a store that offers inspect');
  folder.write('other.mjs', 'export const store = {};');
  const other = await folder.spawn(['pending', '--store', 'module:other.mjs']);
  expect(other.stderr).toContain('to export a store by default');
  expect(other.code).toBe(1);
});
