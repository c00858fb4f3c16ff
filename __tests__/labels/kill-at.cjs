// A service started with `-r` this ends itself by SIGKILL at the point that KILL_AT names. It knows
// the service by what everybody can watch: channels, statements of the database, and sockets.
const { subscribe } = require('node:diagnostics_channel');
const http = require('node:http');
const { createRequire } = require('node:module');
const { join } = require('node:path');

const { KILL_AT } = process.env;
/** On a Node without its own. */
const SQLITE = 'better-sqlite3';
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

const asked = createRequire(process.argv[1]);
const drivers = createRequire(join(process.cwd(), 'package.json'));
switch (process.env.STORE) {
  case 'postgres':
    watchAsking(drivers('pg').Client.prototype, 'query');
    break;
  case 'mysql':
    watchAsking(drivers('mysql2').Connection.prototype, 'query');
    watchAsking(drivers('mysql2').Connection.prototype, 'execute');
    break;
  default:
    watchPreparing(process.getBuiltinModule?.('node:sqlite')?.DatabaseSync ?? asked(SQLITE));
}

/** Every driver of SQLite prepares by the same name. */
function watchPreparing({ prototype }) {
  const { prepare } = prototype;
  prototype.prepare = function watched(sql) {
    const statement = prepare.call(this, sql);
    const { run } = statement;
    statement.run = function ran(...values) {
      sends(sql);
      const answer = run.apply(statement, values);
      replied(sql);
      return answer;
    };
    return statement;
  };
}

/** A driver of a server tells a callback, or a promise, what came of a statement. */
function watchAsking(prototype, name) {
  const ask = prototype[name];
  prototype[name] = function watched(...args) {
    const sql = args[0]?.sql ?? args[0]?.text ?? String(args[0]);
    sends(sql);
    const at = args.findIndex((each) => typeof each === 'function');
    if (at === -1) {
      const answer = ask.apply(this, args);
      // What mysql2 answers here has a `then` that only says that it is none.
      if (answer instanceof Promise) answer.then(() => replied(sql), () => {});
      return answer;
    }
    const tell = args[at];
    args[at] = (...outcome) => {
      replied(sql);
      tell(...outcome);
    };
    return ask.apply(this, args);
  };
}

function sends(sql) {
  if (isLabel(sql)) reach('label begun');
  else if (hasActed && isCommit(sql)) reach('before the commit');
}

function replied(sql) {
  if (isLabel(sql)) {
    hasActed = true;
    reach('label written');
  } else if (hasActed && isCommit(sql)) {
    reach('after the commit');
  }
}

function isLabel(sql) {
  return /^\s*INSERT INTO labels/i.test(sql);
}

function isCommit(sql) {
  return /^\s*commit\s*$/i.test(sql);
}
