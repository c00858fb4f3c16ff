import { existsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort, ServerProcess, serverDirectory, serverUser } from './server-process.ts';

const PGBOUNCER = '/usr/sbin/pgbouncer';

/** A pgbouncer in transaction mode before a PostgreSQL. */
export class Pgbouncer {
  readonly port: number;
  readonly #process: ServerProcess;

  private constructor(port: number, process: ServerProcess) {
    this.port = port;
    this.#process = process;
  }

  static async start(server: { readonly port: number }, poolSize = 20): Promise<Pgbouncer> {
    if (!existsSync(PGBOUNCER)) {
      throw new Error(`There is no ${PGBOUNCER}: apt-get install pgbouncer`);
    }
    const user = serverUser('postgres');
    const directory = serverDirectory('pgbouncer', user);
    const port = await freePort();
    const config = join(directory, 'pgbouncer.ini');
    writeFileSync(config, configOf(server.port, port, poolSize), { mode: 0o644 });
    const process = new ServerProcess(directory, user);
    await process.start(PGBOUNCER, [config], () => isListening(port));
    return new Pgbouncer(port, process);
  }

  stop(): Promise<void> {
    return this.#process.remove();
  }
}

function configOf(serverPort: number, port: number, poolSize: number): string {
  return `[databases]
* = host=127.0.0.1 port=${serverPort} user=tester
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 500
ignore_startup_parameters = extra_float_digits
log_connections = 0
log_disconnections = 0
`;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const answer = (isThere: boolean) => () => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', answer(true));
    socket.once('error', answer(false));
  });
}
