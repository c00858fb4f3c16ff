import { IdempotencyError } from '../core/errors.ts';

/**
 * Warns once for each error code that claims fail with. Without it a store that is closed, full or
 * not migrated would answer every request 503, and nothing would say why.
 */
export function claimWarning(warn: (message: string) => void): (error: unknown) => void {
  const warned = new Set<string>();
  return (error) => {
    // The message of a foreign error may hold a key or a body.
    const isOurs = error instanceof IdempotencyError;
    const code = isOurs ? error.code : 'an error of another kind';
    if (warned.has(code)) return;
    warned.add(code);
    const what = isOurs ? `${code}: ${error.message}` : `${code}, ${nameOf(error)}.`;
    try {
      warn(
        `The store did not say whether a key is free: ${what} Such requests are answered 503 ` +
          'store_unavailable. This is said once; the event claim-failed tells of each.',
      );
    } catch {
      // The request is answered as it would be without a warning.
    }
  };
}

function nameOf(error: unknown): string {
  const name = (error as Partial<Error> | null | undefined)?.name;
  return typeof name === 'string' && /^\w{1,60}$/.test(name) ? name : 'without a name';
}
