import type { PgPool } from './client.ts';
import type { PostgresDriver, Row, Statement } from './driver.ts';
import { endsConnection, GivenUp, NotSent } from './postgres-error.ts';
import { resetConnection } from './reset-connection.ts';

/**
 * Statements on a pool of `pg`. A connection is taken for one statement, so that it can be dropped
 * when that is given up; `pool.query` would put it back, with the answer still to come.
 */
export class PgPoolDriver implements PostgresDriver {
  readonly #pool: PgPool;
  readonly #prepare: boolean;

  constructor(pool: PgPool, prepare: boolean) {
    this.#pool = pool;
    this.#prepare = prepare;
  }

  run(statement: Statement, values: unknown[], timeoutMs: number): Promise<Row[]> {
    const { name, text } = statement;
    const query = this.#prepare ? { name, text, values } : { text, values };
    return new Promise((resolve, reject) => {
      let isOver = false;
      let giveUp = () => reject(new NotSent(`the pool had none for ${timeoutMs} ms.`));
      const timer = setTimeout(() => {
        isOver = true;
        giveUp();
      }, timeoutMs);
      const settle = (outcome: () => void) => {
        isOver = true;
        clearTimeout(timer);
        outcome();
      };
      this.#pool.connect((connectError, client, release) => {
        if (client === undefined || connectError) {
          if (!isOver) settle(() => reject(new NotSent(String(connectError?.message))));
          return;
        }
        if (isOver) {
          release();
          return;
        }
        // Without a listener the loss of the connection would end the process.
        client.on('error', ignore);
        const giveBack = (error?: Error) => {
          client.removeListener('error', ignore);
          release(error);
        };
        giveUp = () => {
          const error = new GivenUp(`PostgreSQL did not answer for ${timeoutMs} ms.`);
          resetConnection(client);
          giveBack(error);
          reject(error);
        };
        client.query(query, (error, result) => {
          if (isOver) return;
          giveBack(error && endsConnection(error) ? error : undefined);
          settle(() => (error ? reject(error) : resolve(result.rows as Row[])));
        });
      });
    });
  }
}

function ignore(): void {}
