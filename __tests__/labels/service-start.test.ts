import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Ended, ServiceProcesses } from './service-process.ts';

// Each test starts processes, on a machine that may be busy.
jest.setTimeout(120_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

function setup() {
  const services = new ServiceProcesses();
  cleanups.push(() => services.cleanUp());
  return services;
}

describe('the service, once started', () => {
  test('first says where it listens and as which process', async () => {
    const { child, port, stdout } = await setup().start();
    expect(stdout.split('\n')[0]).toBe(
      `labels listening on http://127.0.0.1:${port} (pid ${child.pid})`,
    );
  });

  test('prints three commands to try, and they work', async () => {
    const { stdout } = await setup().start();
    const commands = stdout.trimEnd().split('\n').slice(1);
    expect(commands).toHaveLength(3);
    const answers: string[] = [];
    for (const command of [commands[0], ...commands]) {
      answers.push((await promisify(execFile)('sh', ['-c', `${command}`])).stdout);
    }
    const created = '{"request_id":"label-req-7","state":"created","label_id":"label-901"}';
    expect(answers[0]).toContain('201 Created');
    expect(answers[0]).toContain(created);
    expect(answers[1]).toContain(created);
    expect(answers[2]).toContain('{"error":"idempotency_conflict"}');
    expect(answers[3]).toContain('"parcel_id":"parcel-42"');
  });

  test('keeps its file in ./data where it is not told another one', async () => {
    const services = setup();
    await services.start();
    expect(existsSync(join(services.directory, 'data/labels.db'))).toBe(true);
  });

  test('makes the directory of its file', async () => {
    const services = setup();
    const path = join(services.directory, 'one/two/labels.db');
    await services.start({ LABELS_DB: path });
    expect(existsSync(path)).toBe(true);
  });
});

/** One sentence or two on one line, no stack trace, and a code that says that it failed. */
function expectSentence({ code, stdout, stderr }: Ended, sentence: string): void {
  expect(stderr).toBe(`labels: ${sentence}\n`);
  expect(stdout).toBe('');
  expect(code).toBe(1);
}

describe('an address or a port that cannot be had is said in a sentence', () => {
  test('a port that is none', async () => {
    expectSentence(
      await setup().run({ PORT: 'http' }),
      'Expected PORT to be a whole number from 0 to 65535, got "http". ' +
        'Set it to the port to listen on; 0 takes a free one.',
    );
  });

  test('a port in use', async () => {
    const other = createServer();
    cleanups.push(() => other.close());
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    expectSentence(
      await setup().run({ PORT: `${port}` }),
      `Port ${port} is in use. Stop what listens there, or set PORT (0 takes a free one).`,
    );
  });

  test('a Node without SQLite', async () => {
    // Node 20 has none, and does not know the switch that takes it away.
    const NODE_OPTIONS = process.features.typescript ? '--no-experimental-sqlite' : '';
    const launch = join(__dirname, '../../src/labels/launch.js');
    const options = { env: { PATH: process.env['PATH'], NODE_OPTIONS } };
    const run = promisify(execFile)(process.execPath, [launch], options);
    await expect(run).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^labels: Node [^\n]* has no node:sqlite\. Run `npm ci`[^\n]*\n$/,
      ),
    });
  });
});

describe('a store or a mode that cannot be had is said in a sentence', () => {
  test('a store that is none', async () => {
    expectSentence(
      await setup().run({ STORE: 'oracle' }),
      'Expected STORE to be sqlite, postgres, mysql or redis, got "oracle". ' +
        'Set it to one of them, or leave it out: then it is sqlite.',
    );
  });

  test('a store without the URL of its server', async () => {
    expectSentence(
      await setup().run({ STORE: 'redis' }),
      'Expected REDIS_URL with STORE=redis, such as redis://127.0.0.1:6379, got none. Set it.',
    );
  });

  test.each([
    ['postgres', 'pg', 'DATABASE_URL'],
    ['mysql', 'mysql2', 'DATABASE_URL'],
    ['redis', 'ioredis', 'REDIS_URL'],
  ])('%s without the package %s', async (store, name, variable) => {
    const services = setup();
    const url = `${store}://someone:secret@127.0.0.1:1/labels`;
    expectSentence(
      await services.run({ STORE: store, [variable]: url }),
      `STORE=${store} needs the package ${name}, and it is not installed here. ` +
        `Run \`npm install --no-save ${name}\` in ${services.directory}, and start again.`,
    );
  });

  test('a mode that is none', async () => {
    expectSentence(
      await setup().run({ MODE: 'hopeful' }),
      'Expected MODE to be blind, transactional, keyed or sealed, got "hopeful". ' +
        'Set it to one of them, or leave it out: then it is transactional.',
    );
  });
});

describe('a database that cannot be had is said in a sentence', () => {
  test('a file that is not a database', async () => {
    const services = setup();
    const path = join(services.directory, 'letter.txt');
    writeFileSync(path, 'Dear customer, '.repeat(1_000));
    expectSentence(
      await services.run({ LABELS_DB: path }),
      `The SQLite file ${path} is not an SQLite database. ` +
        'Give another path, or move that file away.',
    );
  });

  test('a directory for a file', async () => {
    const services = setup();
    const path = join(services.directory, 'labels.db');
    mkdirSync(path);
    expectSentence(
      await services.run({ LABELS_DB: path }),
      `The SQLite file ${path} is a directory. Give the path of a file in it.`,
    );
  });

  test('a directory below a file', async () => {
    const services = setup();
    const file = join(services.directory, 'file');
    writeFileSync(file, '');
    expectSentence(
      await services.run({ LABELS_DB: join(file, 'below', 'labels.db') }),
      `Cannot make the directory ${join(file, 'below')} (ENOTDIR). ` +
        'Set LABELS_DB to a file in a directory that may be written.',
    );
  });

  test('a directory that cannot be made', async () => {
    expectSentence(
      await setup().run({ LABELS_DB: '/proc/labels/labels.db' }),
      'Cannot make the directory /proc/labels (ENOENT). ' +
        'Set LABELS_DB to a file in a directory that may be written.',
    );
  });

  test('a directory that may not be written', async () => {
    expectSentence(
      await setup().run({ LABELS_DB: '/proc/labels.db' }),
      'The SQLite file /proc/labels.db cannot be opened. ' +
        'Its directory must exist, and this process must have the right to write it.',
    );
  });

  test('a database in memory, which forgets', async () => {
    const { code, stderr } = await setup().run({ LABELS_DB: ':memory:' });
    expect(stderr).toMatch(/^labels: [^\n]* in memory and forgets[^\n]*\n$/);
    expect(code).toBe(1);
  });
});
