import type { ServerResponse } from 'node:http';
import type { Run } from '../bare-and-held.ts';
import type { WireAnswer } from '../wire.ts';

/** The code of what `act` throws, its message where it has none, or 'nothing'. */
export function thrownBy(act: () => unknown): string {
  try {
    act();
    return 'nothing';
  } catch (error) {
    return codeOf(error);
  }
}

export function codeOf(error: unknown): string {
  if (error === undefined || error === null) return 'no error';
  const { code, message } = error as { code?: string; message?: string };
  return code ?? message ?? String(error);
}

/** What user code may read of a response. */
export function stateOf(res: ServerResponse): string {
  const { headersSent, writableEnded, finished, destroyed, writable, statusCode } = res;
  return JSON.stringify({ headersSent, writableEnded, finished, destroyed, writable, statusCode });
}

export function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** An answer without the lines of these names. */
export function withoutLines(...names: string[]): (answer: WireAnswer) => WireAnswer {
  const isNamed = new RegExp(`^(${names.join('|')}): `, 'i');
  return (answer) => ({ ...answer, lines: answer.lines.filter((line) => !isNamed.test(line)) });
}

/** For answers whose lines are the same ones in another order, by design. */
export function inAnyOrder(run: Run): Run {
  const answers = run.answers.map((answer) => ({ ...answer, lines: [...answer.lines].sort() }));
  return { ...run, answers };
}
