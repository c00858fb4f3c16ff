import type { Backend } from './backend.ts';

/** Placeholder until the store is there. */
export async function openMysqlBackend(_url: string): Promise<Backend> {
  throw new Error('STORE=mysql is not there yet. Set it to another one.');
}
