import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { built } from './modules.mjs';
import { FILLED_KEY, FINGERPRINT, HEAD, idOf, RESPONSE } from './record.mjs';

export const VARIANTS = [{ title: 'SQLite, node:sqlite', open }];

async function open() {
  const { DatabaseSync } = await import('node:sqlite');
  const { SqliteStore } = await built('sqlite');
  const folder = mkdtempSync(join(tmpdir(), 'express-idempotent-bench-'));
  const fileOf = (space) => join(folder, `${space}.db`);
  const handles = [];
  const ends = [];
  const handleOf = (space) => {
    const handle = new DatabaseSync(fileOf(space));
    handle.exec('pragma journal_mode = wal; pragma synchronous = full');
    handles.push(handle);
    return handle;
  };
  const raw = handleOf('raw');
  return {
    about: `SQLite ${raw.prepare('select sqlite_version() as v').get().v}, WAL, synchronous=FULL`,
    raw: rawOn(raw),
    async openStore(space) {
      const store = await SqliteStore.open(fileOf(space));
      ends.push(() => store.close());
      return store;
    },
    howSized: 'size of the file after a checkpoint',
    sizeOf(space) {
      handleOf(space).exec('pragma wal_checkpoint(truncate)');
      return statSync(fileOf(space)).size;
    },
    fill: (space, count) => fill(handleOf(space), count),
    async close() {
      for (const end of ends) await end();
      for (const handle of handles) handle.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function rawOn(handle) {
  handle.exec(`create table raw (id blob primary key, fingerprint text not null,
    owner text not null, status int, head text, body blob) strict`);
  const begin = handle.prepare('begin immediate');
  const commit = handle.prepare('commit');
  const insert = handle.prepare(
    'insert into raw (id, fingerprint, owner, status) values (?, ?, ?, 0)',
  );
  const update = handle.prepare('update raw set status = ?, head = ?, body = ? where id = ?');
  const select = handle.prepare('select * from raw where id = ?');
  return {
    async write(key) {
      const id = idOf(key);
      begin.run();
      insert.run(id, FINGERPRINT, randomUUID());
      commit.run();
      begin.run();
      update.run(RESPONSE.status, HEAD, RESPONSE.body, id);
      commit.run();
    },
    read: async (key) => select.get(idOf(key)),
  };
}

function fill(handle, count) {
  handle.function('id_of', { deterministic: true }, idOf);
  const columns = handle.prepare('select * from idempotency_records limit 0').columns();
  const others = columns.map(({ name }) => name).filter((name) => name !== 'id');
  handle.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
    insert into idempotency_records (id, ${others.join(', ')})
    select id_of('${FILLED_KEY}' || i), ${others.join(', ')}
      from n cross join (select * from idempotency_records limit 1)`);
  handle.exec('pragma wal_checkpoint(truncate)');
}
