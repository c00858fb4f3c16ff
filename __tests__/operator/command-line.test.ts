import express from 'express';
import { idempotent } from '../../src/index.ts';
import { recordReference, showRecord } from '../../src/operator/index.ts';
import { serve, valuesOf } from '../http/served.ts';
import { CommandFolder } from './command-folder.ts';
import { jsonLines } from './command-process.ts';
import { leavePending, takeOver } from './left-pending.ts';

jest.setTimeout(60_000);

const LEFT = { tenant: 'acme', operation: 'POST /labels', key: 'label-req-7' };
const BY_PARTS = ['--tenant', 'acme', '--operation', 'POST /labels', '--key', 'label-req-7'];
const REASON = ['--reason', 'the label is on the parcel'];

const folders: CommandFolder[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

async function setup() {
  const folder = new CommandFolder();
  folders.push(folder);
  const store = await folder.store();
  return { folder, store };
}

test('pending shows what is pending, and nothing else', async () => {
  const { folder, store } = await setup();
  const nothing = await folder.run(['pending']);
  expect(nothing).toEqual({ code: 0, stdout: 'There is no pending record.\n', stderr: '' });
  const recordKey = await leavePending(store, LEFT);
  await leavePending(store, { key: 'label-req-8', leaseMs: 600_000 });
  expect(
    await folder.run(['settle', '--key', 'label-req-8', '--force', '--unknown', ...REASON]),
  ).toMatchObject({ code: 0 });
  const { code, stdout } = await folder.run(['pending']);
  const reference = recordReference(recordKey).slice(0, 16);
  expect(stdout.split('\n')).toEqual([
    expect.stringMatching(/^REFERENCE +STATE +AGE +LEASE +ATTEMPT +RECORD$/),
    expect.stringMatching(
      new RegExp(
        `^${reference} +pending +\\d+ s +none +1 +POST /labels +label-req-7 +tenant acme$`,
      ),
    ),
    '',
  ]);
  expect(code).toBe(0);
  const states = jsonLines(await folder.run(['list', '--json'])).map(({ state }) => state);
  expect(states).toEqual(['pending', 'completed']);
});

test('with --json each record is a value on a line of its own', async () => {
  const { folder, store } = await setup();
  const recordKey = await leavePending(store, LEFT);
  const expected = {
    ...LEFT,
    reference: recordReference(recordKey),
    recordKey,
    state: 'pending',
    attempt: 1,
    leaseUntilMs: null,
    completedAtMs: null,
    createdAtMs: expect.any(Number),
    fingerprint: 'f',
  };
  expect(jsonLines(await folder.run(['pending', '--json']))).toEqual([expected]);
  const shown = jsonLines(await folder.run(['show', ...BY_PARTS, '--json']));
  expect(shown).toEqual([{ ...expected, response: null }]);
});

test('a list can be of old ones only, and of few', async () => {
  const { folder, store } = await setup();
  for (const key of ['a', 'b', 'c']) await leavePending(store, { key });
  expect(jsonLines(await folder.run(['pending', '--json', '--older-than', '1h']))).toEqual([]);
  const two = await folder.run(['pending', '--limit', '2']);
  expect(two.stdout).toMatch(/ a\n.* b\nThere are more than 2\.\n$/);
});

test('what is settled on the command line is what the service answers, byte for byte', async () => {
  const { folder, store } = await setup();
  const app = express();
  app.post('/labels', idempotent(store), (_req, res) => void res.status(500).end());
  await using served = await serve(app);
  expect((await served.ask({ key: 'label-req-7' })).status).toBe(500);
  const [found] = jsonLines(await folder.spawn(['pending', '--json']));
  const body = '{"label_id": "label-901", "name": "Zoë"}\r\n';
  folder.write('answer.json', body);
  const settled = await folder.spawn([
    ...['settle', String(found?.['reference']).slice(0, 8), '--done', '201'],
    ...['--body-file', 'answer.json', '--content-type', 'application/json'],
    ...['--header', 'ETag: "label-901-v1"', '--header', 'ETag: "backup"', ...REASON],
  ]);
  expect(settled).toEqual({
    code: 0,
    stdout: `${found?.['reference']} is settled: its retries are answered 201.\n`,
    stderr: '',
  });
  const answered = await served.ask({ key: 'label-req-7' });
  expect(answered.status).toBe(201);
  expect(Buffer.from(answered.body, 'latin1').toString()).toBe(body);
  expect(valuesOf(answered, 'Content-Type')).toEqual(['application/json']);
  expect(valuesOf(answered, 'ETag')).toEqual(['"label-901-v1"', '"backup"']);
});

test('an answer can come from the input, and can have no body', async () => {
  const { folder, store } = await setup();
  await leavePending(store, LEFT);
  const input = Buffer.from([0, 255, 10]);
  const from = ['--body-file', '-', '--content-type', 'image/png'];
  await folder.spawn(['settle', ...BY_PARTS, '--done', '200', ...from, ...REASON], { input });
  expect(await showRecord(store, LEFT)).toMatchObject({ response: { status: 200, body: input } });
  await leavePending(store, { key: 'empty' });
  await folder.run(['settle', '--key', 'empty', '--done', '204', ...REASON]);
  const { response } = (await showRecord(store, 'empty')) ?? {};
  expect(response).toMatchObject({ status: 204, headers: [], body: Buffer.alloc(0) });
});

test('a lease that holds is respected until the operator insists', async () => {
  const { folder, store } = await setup();
  await leavePending(store, { ...LEFT, leaseMs: 600_000 });
  const settling = ['settle', ...BY_PARTS, '--unknown', ...REASON];
  const refused = await folder.run(settling);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/lease of its owner holds until .* \(in 9 min\).*--force/);
  expect(jsonLines(await folder.run([...settling, '--json']))).toMatchObject([
    { answer: 'lease-holds', kind: 'unknown', by: 'operator', force: false },
  ]);
  expect(await showRecord(store, LEFT)).toMatchObject({ state: 'pending' });
  expect(await folder.run([...settling, '--force'])).toMatchObject({ code: 0 });
  expect(await showRecord(store, LEFT)).toMatchObject({ response: { status: 409 } });
  const { stdout } = await folder.run(['show', ...BY_PARTS]);
  expect(stdout).toMatch(/^settled +unknown, forced, by operator: the label is on the parcel$/m);
  const again = await folder.run([...settling, '--force']);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('not pending any more') });
});

test('what never started is free at attempt 1, and keeps its number later', async () => {
  const { folder, store } = await setup();
  await leavePending(store, LEFT);
  const settling = ['settle', ...BY_PARTS, '--never-started', ...REASON];
  expect((await folder.run(settling)).stdout).toContain('its key is free');
  expect(await showRecord(store, LEFT)).toBeUndefined();
  expect((await folder.run(settling)).stderr).toMatch(/There is no such record\.\n/);
  const { stderr } = await folder.run(['show', '--key', LEFT.key]);
  expect(stderr).toContain("There is no such record. Give --operation, such as 'POST /labels'");
  await leavePending(store, { ...LEFT, leaseMs: 1 });
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await takeOver(store, { ...LEFT, owner: 'B', leaseMs: 1 })).toBe(2);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect((await folder.run(settling)).stdout).toContain('It keeps its number, 2');
  expect(await showRecord(store, LEFT)).toMatchObject({ state: 'pending', attempt: 2 });
});

test('prune removes what is over its retention, and leaves the rest', async () => {
  const { folder, store } = await setup();
  await leavePending(store, LEFT);
  expect(await folder.run(['prune'])).toMatchObject({
    code: 0,
    stdout: '0 records were pruned.\n',
  });
  expect(jsonLines(await folder.run(['prune', '--json']))).toEqual([{ changed: 0 }]);
  expect(await showRecord(store, LEFT)).toMatchObject({ state: 'pending' });
});
