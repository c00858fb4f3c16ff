import type {
  OpenTransaction,
  TransactionAdapter,
  TransactionLimits,
} from '../../../core/transaction.ts';
import { beginByCallback } from '../../transactions/by-callback.ts';
import { callbackLink, letGo } from '../../transactions/callback-link.ts';
import { TransactionGate } from '../../transactions/gate.ts';
import { GuardedTransaction } from '../../transactions/guarded-transaction.ts';
import { takenInTime } from '../../transactions/in-time.ts';
import { checkAdapter, type TransactionAdapterOptions } from '../../transactions/options.ts';
import { noConnection } from '../../transactions/transaction-error.ts';
import { postgresAdapter } from '../options.ts';
import { limitsQuery } from './opening.ts';
import { afterCommit, withServerWord } from './server-word.ts';

/** A client of Prisma on PostgreSQL, as far as it is used here. */
export interface PrismaDatabase<Transaction> {
  $transaction<R>(
    callback: (tx: Transaction) => Promise<R>,
    options?: { maxWait?: number; timeout?: number; isolationLevel?: never },
  ): Promise<R>;
}

/**
 * Interactive transactions of Prisma on PostgreSQL. The handler's `tx` is a
 * `Prisma.TransactionClient`.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function prismaTransactions<Transaction extends object>(
  prisma: PrismaDatabase<Transaction>,
  options: TransactionAdapterOptions = {},
): TransactionAdapter<Transaction> {
  checkAdapter(postgresAdapter('prismaTransactions'), prisma, LIBRARY, options);
  const level = options.isolationLevel;
  const isolation = level === undefined ? {} : { isolationLevel: ISOLATION_LEVELS[level] };
  return {
    dialect: 'postgres',
    begin: (limits) => open<Transaction>(limits, prisma as unknown as PrismaInside, isolation),
  };
}

const LIBRARY = { expected: 'a PrismaClient', methods: ['$transaction', '$extends'] };

const ISOLATION_LEVELS = {
  'read committed': 'ReadCommitted',
  'repeatable read': 'RepeatableRead',
  serializable: 'Serializable',
} as const;

async function open<Transaction extends object>(
  limits: TransactionLimits,
  prisma: PrismaInside,
  isolation: object,
): Promise<OpenTransaction<Transaction>> {
  const gate = new TransactionGate();
  const ours = new Set<unknown>();
  const guarded = prisma.$extends({ query: { $allOperations: guard(gate, ours) } });
  const times = { maxWait: limits.lockTimeoutMs, timeout: NEVER_MS, ...isolation };
  const begun = await takenInTime(
    limits.lockTimeoutMs,
    beginByCallback<PrismaTransaction>(
      (callback) => guarded.$transaction(callback, times),
      (error) => gate.lose(error),
    ),
    noConnection,
    (late) => late.rollback(),
  );
  const run = async (text: string, values: unknown[]) => {
    ours.add(text);
    try {
      return await begun.tx.$queryRawUnsafe(text, ...values);
    } catch (error) {
      throw withServerWord(error);
    }
  };
  const link = callbackLink(begun, begun.tx as unknown as Transaction, run, letGo, afterCommit);
  const transaction = new GuardedTransaction(gate, link, limits);
  try {
    await run(limitsQuery(limits, true), []);
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
  return transaction;
}

/** Where Prisma is about to run an operation, whenever that was written down. */
function guard(gate: TransactionGate, ours: ReadonlySet<unknown>) {
  return async ({ args, query }: PrismaOperation): Promise<unknown> => {
    const [text] = Array.isArray(args) ? args : [];
    if (ours.has(text)) return query(args);
    return gate.pass(typeof text === 'string' ? text : '', () => query(args));
  };
}

/** Prisma would end it by its own clock; the limits of the server are the ones that count here. */
const NEVER_MS = 2_147_483_647;

interface PrismaInside {
  $extends(extension: object): {
    $transaction(
      callback: (tx: PrismaTransaction) => Promise<void>,
      options: object,
    ): Promise<unknown>;
  };
}

interface PrismaTransaction {
  $queryRawUnsafe(text: string, ...values: unknown[]): Promise<unknown>;
}

interface PrismaOperation {
  readonly args: unknown;
  readonly query: (args: unknown) => Promise<unknown>;
}
