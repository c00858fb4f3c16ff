const { once } = require('node:events');
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

/** Runs real requests through the package as it was loaded, and prints what was seen as JSON. */
exports.report = async ({ express, core, labels, sqlite, testing, loaded }) => {
  const seen = {
    loaded,
    entries: await entriesThatLoad(),
    names: [core.idempotent.name, typeof labels.labelsRouter, typeof testing.FaultyStore],
    isOneFunction: core.idempotent === core.idempotencyMiddleware,
    otherCopyIsAnError: isErrorOfBoth(core),
    memory: await requests(express, core, new core.MemoryStore()),
    sqlite: await onSqlite(express, core, sqlite.SqliteStore),
  };
  console.log(JSON.stringify(seen));
};

/** The entries of the package that load in both formats, without any driver beside them. */
async function entriesThatLoad() {
  const { exports } = require('express-idempotent/package.json');
  const names = Object.keys(exports).filter((path) => path !== './package.json');
  for (const path of names) {
    const specifier = path.replace('.', 'express-idempotent');
    const [imported, required] = [await import(specifier), require(specifier)];
    if (Object.keys(required).some((name) => !(name in imported))) throw new Error(specifier);
  }
  return names;
}

/** Two equal requests, then one with another body. */
async function requests(express, core, store) {
  const app = express();
  let runs = 0;
  app.post('/labels/:label_id', express.json(), core.idempotent(store), (req, res) => {
    runs += 1;
    res.append('ETag', '"a"').append('ETag', '"b"');
    res.status(201).json({ id: req.params.label_id, run: runs, key: req.idempotency.key });
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}/labels/label-901`;
  const answers = [];
  for (const body of ['{"a":1}', '{ "a": 1 }', '{"a":2}']) {
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' };
    const response = await fetch(url, { method: 'POST', headers, body });
    answers.push([response.status, response.headers.get('etag'), await response.text()]);
  }
  server.closeAllConnections();
  server.close();
  return { runs, answers };
}

async function onSqlite(express, core, SqliteStore) {
  const folder = mkdtempSync(join(tmpdir(), 'consumer-'));
  try {
    const store = await SqliteStore.open(join(folder, 'records.db'));
    const seen = await requests(express, core, store);
    await store.close();
    return seen;
  } catch (error) {
    return { code: error.code, isOurs: error instanceof core.IdempotencyError };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** An error of the copy for `require` is one for the copy for `import`, and the other way. */
function isErrorOfBoth(core) {
  const other = require('express-idempotent');
  const error = new other.IdempotencyError('nested', 'A sentence.');
  return error instanceof core.IdempotencyError && new core.FencedError() instanceof other.FencedError;
}
