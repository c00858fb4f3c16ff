import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { SqliteStore } from '../../../src/stores/sqlite/index.ts';

// Nothing of this name is installed beside the package. Here it may be, by another name.
jest.mock('better-sqlite3', () => missingModule(), { virtual: true });

function setup() {
  const { getBuiltinModule } = process;
  process.getBuiltinModule = (() => undefined) as typeof getBuiltinModule;
  return {
    restore: () => {
      process.getBuiltinModule = getBuiltinModule;
    },
  };
}

test('without any driver, one sentence says what to install', async () => {
  const { restore } = setup();
  await expect(SqliteStore.open('records.db')).rejects.toMatchObject({
    code: 'driver_missing',
    message: expect.stringMatching(/npm install better-sqlite3[^\n]*Node 22\.13/),
  });
  restore();
});

test('an import of the package loads no driver', () => {
  const hook = join(__dirname, '../typescript-hook.cjs');
  const entry = JSON.stringify(join(__dirname, '../../../src/stores/sqlite/index.ts'));
  const program = `require(${entry}); console.log(JSON.stringify(process.moduleLoadList))`;
  const loaded: string[] = JSON.parse(
    execFileSync(process.execPath, ['-r', hook, '-e', program], { encoding: 'utf8' }),
  );
  expect(loaded.length).toBeGreaterThan(10);
  expect(loaded.filter((name) => name.includes('sqlite'))).toEqual([]);
});

function missingModule(): never {
  throw Object.assign(new Error('Cannot find module'), { code: 'MODULE_NOT_FOUND' });
}
