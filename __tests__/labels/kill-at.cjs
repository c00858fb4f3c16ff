// A service started with `-r` this ends itself by SIGKILL at the point that KILL_AT names. It knows
// the service by what everybody can watch: channels, statements of the database, and sockets.
const { subscribe } = require('node:diagnostics_channel');
const http = require('node:http');
const { createRequire } = require('node:module');

const { KILL_AT } = process.env;
let hasActed = false;

function reach(point) {
  if (point === KILL_AT) process.kill(process.pid, 'SIGKILL');
}

subscribe('http.server.request.start', () => reach('request received'));
subscribe('express-idempotent:claimed', () => reach('claimed'));
subscribe('express-idempotent:completed', () => reach('completed'));
subscribe('http.client.request.start', () => {
  // By then the carrier has all of it, and is slow to do something about it.
  if (KILL_AT === 'carrier asked') setTimeout(reach, 100, KILL_AT);
});
subscribe('http.client.response.finish', () => {
  hasActed = true;
  reach('carrier has answered');
});

const serve = http.Server.prototype.emit;
http.Server.prototype.emit = function emit(name, req, ...rest) {
  if (name === 'request') watchFirstByte(req.socket);
  return serve.call(this, name, req, ...rest);
};

function watchFirstByte(socket) {
  const { write } = socket;
  socket.write = function written(...args) {
    socket.write = write;
    reach('before the first byte');
    const answer = write.apply(socket, args);
    reach('first byte');
    return answer;
  };
}

/** Every driver of SQLite prepares by the same name. */
const sqlite = process.getBuiltinModule?.('node:sqlite')?.DatabaseSync ?? betterSqlite();
const { prepare } = sqlite.prototype;
sqlite.prototype.prepare = function watched(sql) {
  const statement = prepare.call(this, sql);
  const { run } = statement;
  const isLabel = /INSERT INTO labels/.test(sql);
  if (!isLabel && sql !== 'COMMIT') return statement;
  statement.run = function ran(...values) {
    if (isLabel) reach('label begun');
    else if (hasActed) reach('before the commit');
    const answer = run.apply(statement, values);
    if (isLabel) reach('label written');
    else if (hasActed) reach('after the commit');
    hasActed ||= isLabel;
    return answer;
  };
  return statement;
};

function betterSqlite() {
  return createRequire(process.argv[1])('better-sqlite3');
}
