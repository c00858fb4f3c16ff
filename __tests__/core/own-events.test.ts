import { channel } from 'node:diagnostics_channel';
import { runInNewContext } from 'node:vm';
import { publish } from '../../src/core/events.ts';
import { hearOwn } from './own-events.ts';

test('events of this file are heard until the end, and never those of a file that ended before', () => {
  const names: string[] = [];
  const end = hearOwn(({ name }) => names.push(name), ['released']);
  channel('express-idempotent:released').publish(runInNewContext('({ name: "foreign" })'));
  publish('released', { recordKey: 'k', operation: undefined, attempt: 1 });
  expect(names).toEqual(['released']);
  end();
  publish('released', { recordKey: 'k', operation: undefined, attempt: 1 });
  expect(names).toEqual(['released']);
});
