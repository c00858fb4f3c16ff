import { visible, visibleJson } from '../../src/operator/terminal-text.ts';
import { attemptOf, callOf } from '../../src/testing/contract-scene.ts';
import { CommandFolder } from './command-folder.ts';
import { jsonLines } from './command-process.ts';
import { leavePending, leftBy } from './left-pending.ts';

/** Clears the screen, sets a title, turns the direction of writing, breaks the line, hides. */
const HOSTILE =
  'a\u001b[2J\u001b]0;title\u0007\u009b31m\u202e\u2066\r\n\t\u007f\u200b\ufeff\u2028\u00ad z';
jest.setTimeout(60_000);

const LEFT = { tenant: HOSTILE, operation: `POST /${HOSTILE}`, key: `k${HOSTILE}` };
/** Everything that a terminal may act on or hide, but for the end of a line. */
const UNSAFE = /(?![ \n])[\p{C}\p{Z}]/u;

const folders: CommandFolder[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

async function setup() {
  const folder = new CommandFolder();
  folders.push(folder);
  const store = await folder.store();
  await leavePending(store, LEFT);
  const context = leftBy({ ...LEFT, key: 'done' });
  await store.claim(context.recordKey, 'f', context, callOf());
  const response = {
    kept: true,
    status: 201,
    reason: HOSTILE,
    headers: [['X-Secret', HOSTILE]],
    removedNames: [],
    body: Buffer.from(`secret ${HOSTILE}`),
  } as const;
  await store.complete(context.recordKey, response, { ...attemptOf('A'), ...context }, callOf());
  return { folder, store };
}

test('nothing that a client sent can act on the terminal of an operator', async () => {
  const { folder } = await setup();
  const references = jsonLines(await folder.run(['list', '--json'])).map((each) =>
    String(each['reference']),
  );
  expect(references).toHaveLength(2);
  const commands = [
    ['pending'],
    ['list'],
    ['list', '--json'],
    ...references.flatMap((reference) => [
      ['show', reference, '--headers', '--body'],
      ['show', reference, '--headers', '--body', '--json'],
      ['settle', reference, '--unknown', '--reason', HOSTILE, '--json'],
    ]),
    ['show', '--tenant', HOSTILE, '--operation', LEFT.operation, '--key', 'another'],
    ['pending', '--state', HOSTILE],
    [HOSTILE],
  ];
  const ended = await Promise.all(commands.map((args) => folder.run(args)));
  for (const { stdout, stderr } of [...ended, await folder.spawn(['list', '--json'])]) {
    expect(stdout + stderr).not.toMatch(UNSAFE);
    expect(stdout + stderr).not.toBe('');
  }
});

test('what is escaped in JSON is the same value to a parser', async () => {
  const { folder } = await setup();
  const [pending] = jsonLines(await folder.run(['pending', '--json']));
  expect(pending).toMatchObject(LEFT);
  expect(JSON.parse(visibleJson({ [HOSTILE]: '\u{e0041}\ud800' }))).toEqual({
    [HOSTILE]: '\u{e0041}\ud800',
  });
});

test('escaped text says which text it was', () => {
  expect(visible('a\\u001b \u001b Zoë 漢 📦 \u{e0041}')).toBe(
    'a\\\\u001b \\u001b Zoë 漢 📦 \\udb40\\udc41',
  );
});

test('header values and bodies are shown to those who ask for them, and to no others', async () => {
  const { folder } = await setup();
  const completed = await folder.run(['list', '--state', 'completed', '--json']);
  const show = ['show', String(jsonLines(completed)[0]?.['reference'])];
  for (const form of [[], ['--json']]) {
    const shown = async (...more: string[]) =>
      (await folder.run([...show, ...form, ...more])).stdout;
    const [bare, headers, body] = await Promise.all([shown(), shown('--headers'), shown('--body')]);
    expect(bare).toContain('201');
    expect(bare).not.toMatch(/X-Secret|secret/);
    expect(headers).toContain('X-Secret');
    expect(headers).not.toContain('secret a');
    expect(body).toContain('secret a');
    expect(body).not.toContain('X-Secret');
  }
});
