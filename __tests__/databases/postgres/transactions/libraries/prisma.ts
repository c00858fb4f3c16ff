import { PrismaPg } from '@prisma/adapter-pg';
import * as runtime from '@prisma/client/runtime/client';
import { prismaTransactions } from '../../../../../src/stores/postgres/index.ts';
import type { LibraryUnderTest } from './library.ts';
import LABEL from './prisma-label.json';

/** What `prisma generate` declares for a schema of one model, as far as these tests use it. */
interface PrismaClient {
  readonly label: { create(args: { data: { name: string } }): PromiseLike<unknown> };
  $executeRawUnsafe(text: string): PromiseLike<number>;
  $disconnect(): Promise<void>;
  $transaction<P extends PromiseLike<unknown>[]>(all: [...P]): Promise<unknown[]>;
  $transaction<R>(
    callback: (tx: Omit<PrismaClient, runtime.ITXClientDenyList>) => Promise<R>,
    options?: { maxWait?: number; timeout?: number; isolationLevel?: 'Serializable' },
  ): Promise<R>;
}

export const PRISMA: LibraryUnderTest<Omit<PrismaClient, runtime.ITXClientDenyList>> = {
  trips: { begin: 2, all: 5 },
  isLazy: true,
  async connect({ max, ...address }) {
    const prisma = newClient(new PrismaPg({ ...address, max }));
    return {
      adapter: (options) => prismaTransactions(prisma, options),
      insert: (tx, name) => tx.label.create({ data: { name } }),
      raw: (tx, text) => tx.$executeRawUnsafe(text),
      query: (text) => prisma.$executeRawUnsafe(text),
      ends: [(tx) => tx.$executeRawUnsafe('commit')],
      close: () => prisma.$disconnect(),
    };
  },
};

const { Module: WasmModule } = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly;

/** What these tests know of it: the types of browsers are not theirs. */
interface Wasm {
  readonly Module: new (bytes: Uint8Array) => object;
}

/** As the code that `prisma generate` writes makes it: that command would download an engine. */
function newClient(adapter: PrismaPg): PrismaClient {
  const Client = runtime.getPrismaClient({
    ...LABEL,
    previewFeatures: [],
    clientVersion: '7.10.0',
    engineVersion: 'none',
    activeProvider: 'postgresql',
    compilerWasm: {
      getRuntime: async () =>
        require('@prisma/client/runtime/query_compiler_fast_bg.postgresql.js'),
      getQueryCompilerWasmModule: async () => {
        const {
          wasm,
        } = require('@prisma/client/runtime/query_compiler_fast_bg.postgresql.wasm-base64.js');
        return new WasmModule(Buffer.from(wasm, 'base64'));
      },
      importName: './query_compiler_fast_bg.js',
    },
  } as never);
  return new Client({ adapter } as never) as unknown as PrismaClient;
}
