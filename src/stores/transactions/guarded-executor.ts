import type { TransactionGate } from './gate.ts';

/** What Kysely runs queries with, as far as it is used here. */
export interface KyselyExecutor {
  executeQuery(query: CompiledQuery, ...others: unknown[]): Promise<unknown>;
  stream(query: CompiledQuery, ...others: unknown[]): AsyncIterableIterator<unknown>;
  provideConnection<R>(use: (connection: KyselyConnection) => Promise<R>): Promise<R>;
  withPlugin(...args: unknown[]): KyselyExecutor;
  withPlugins(...args: unknown[]): KyselyExecutor;
  withPluginAtFront(...args: unknown[]): KyselyExecutor;
  withoutPlugins(...args: unknown[]): KyselyExecutor;
}

export interface KyselyConnection {
  executeQuery(query: CompiledQuery): Promise<{ readonly rows: unknown[] }>;
}

export interface CompiledQuery {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/**
 * Puts the gate before an executor of Kysely, and before those that are made of it. Each
 * transaction has one of its own, which all of its queries hold. `watch` is told what failed.
 */
export function guardExecutor<Executor extends KyselyExecutor>(
  executor: Executor,
  gate: TransactionGate,
  watch: (error: unknown) => void,
): Executor {
  const { executeQuery, stream } = executor;
  executor.executeQuery = (query, ...others) =>
    gate.pass(query.sql, async () => {
      try {
        return await executeQuery.call(executor, query, ...others);
      } catch (error) {
        watch(error);
        throw error;
      }
    });
  executor.stream = async function* guarded(query, ...others) {
    const leave = gate.enter(query.sql);
    try {
      yield* stream.call(executor, query, ...others);
    } finally {
      leave();
    }
  };
  for (const name of DERIVING) {
    const derive = executor[name];
    if (typeof derive !== 'function') continue;
    executor[name] = (...args) => guardExecutor(derive.apply(executor, args), gate, watch);
  }
  return executor;
}

const DERIVING = ['withPlugin', 'withPlugins', 'withPluginAtFront', 'withoutPlugins'] as const;
