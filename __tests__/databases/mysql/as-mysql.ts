import type { MySqlPool } from '../../../src/stores/mysql/index.ts';

/**
 * A pool whose server calls itself MySQL: then the store sends it what MySQL understands. What only
 * MariaDB understands is refused.
 */
export function asMySql(pool: MySqlPool): MySqlPool {
  return {
    async getConnection() {
      const connection = await pool.getConnection();
      const send = (how: 'query' | 'execute') => async (statement: { readonly sql: string }) => {
        if (/^set statement/.test(statement.sql)) throw new Error('MySQL does not know this.');
        const answer = (await connection[how](statement as never)) as readonly [unknown];
        const [rows] = answer;
        return statement.sql.startsWith('show variables') ? [rowsOf(rows).map(asOfMySql)] : answer;
      };
      return Object.assign(Object.create(connection), {
        query: send('query'),
        execute: send('execute'),
      });
    },
  };
}

interface Variable {
  readonly Variable_name: string;
  readonly Value: string;
}

function rowsOf(rows: unknown): readonly Variable[] {
  return rows as readonly Variable[];
}

function asOfMySql(row: Variable): Variable {
  return row.Variable_name === 'version' ? { ...row, Value: '8.0.41' } : row;
}
