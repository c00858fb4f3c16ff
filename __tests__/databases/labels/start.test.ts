import { MariaDbServer } from '../servers/mariadb.ts';
import { PostgresServer } from '../servers/postgres.ts';
import { RedisServer } from '../servers/redis.ts';
import { freePort } from '../servers/server-process.ts';
import { askUntilDone, Replicas } from './replicas.ts';

// Each test starts a server and several services, on a machine that may be busy.
jest.setTimeout(240_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

function setup(env: NodeJS.ProcessEnv) {
  const replicas = new Replicas(env);
  cleanups.push(() => replicas.cleanUp());
  return replicas;
}

/** One line that says what is wrong, without the password, and a code that says that it failed. */
async function expectSentence(env: NodeJS.ProcessEnv, sentence: RegExp): Promise<void> {
  const { code, stdout, stderr } = await setup(env).run();
  expect(stderr).toMatch(sentence);
  expect(stderr).toMatch(/^labels: [^\n]+\n$/);
  expect(stderr).not.toContain('secret');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
}

test.each([
  ['postgres', 'PostgreSQL', 'DATABASE_URL'],
  ['mysql', 'MySQL', 'DATABASE_URL'],
  ['redis', 'Redis', 'REDIS_URL'],
])('%s that cannot be reached is said in a sentence', async (store, name, variable) => {
  const port = await freePort();
  const url = `${store}://someone:secret@127.0.0.1:${port}/labels`;
  await expectSentence(
    { STORE: store, [variable]: url },
    RegExp(
      `^labels: ${name} at 127\\.0\\.0\\.1:${port} cannot be used: [^\\n]*ECONNREFUSED[^\\n]*\\. ` +
        `Start it, or set ${variable} to another one\\.\n$`,
    ),
  );
});

test('a database that is not there is said in a sentence', async () => {
  const server = await PostgresServer.start();
  cleanups.push(() => server.stop());
  const url = server.url.replace(/postgres$/, 'nowhere').replace('@', ':secret@');
  await expectSentence(
    { STORE: 'postgres', DATABASE_URL: url },
    /cannot be used: database "nowhere" does not exist\. Start it, or set DATABASE_URL to another/,
  );
});

test('settings of a server that lose records are said in a sentence', async () => {
  const server = await PostgresServer.start({ synchronous_commit: 'off' });
  cleanups.push(() => server.stop());
  await expectSentence(
    { STORE: 'postgres', DATABASE_URL: server.url },
    /^labels: synchronous_commit is off: /,
  );
  const redis = await RedisServer.start({ 'maxmemory-policy': 'allkeys-lru' });
  cleanups.push(() => redis.stop());
  await expectSentence(
    { STORE: 'redis', REDIS_URL: `redis://127.0.0.1:${redis.port}` },
    /^labels: RedisStore: maxmemory-policy of [^\n]* is allkeys-lru: /,
  );
});

test.each([
  ['postgres', PostgresServer],
  ['mysql', MariaDbServer],
])('6 replicas start at once on an empty database of %s', async (store, Server) => {
  const server = await Server.start();
  cleanups.push(() => server.stop());
  const replicas = setup({ STORE: store, DATABASE_URL: server.url });
  const all = await Promise.all(Array.from({ length: 6 }, () => replicas.start()));
  const answers = await Promise.all(all.map(({ port }) => askUntilDone(port, 'label-req-7')));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers[0]?.text).toContain('"label_id":"label-901"');
});
