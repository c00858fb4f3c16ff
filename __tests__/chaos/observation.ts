import { type CrashCase, LOST, type Mode } from './crash-case.ts';

/** What a client was told, as text: the status, the header lines and the body. */
export interface Answer {
  /** 0 where the connection broke. */
  readonly status: number;
  readonly text: string;
}

/** All that was seen of one key. */
export interface Observation {
  readonly crash: CrashCase;
  /** Whether the process came to the point, or lost the reply, as the case asks. */
  readonly isMet: boolean;
  /** The numbers of the attempts whose effects took place. */
  readonly effects: readonly number[];
  /** The numbers that the store gave, in order. */
  readonly granted: readonly number[];
  /** What the client of the process was told. */
  readonly told: Answer;
  /** What the same client was told later, by another replica. */
  readonly retries: readonly Answer[];
  /** What it was told once more, when all was over. */
  readonly last: readonly Answer[];
  /** From the interruption to the first definite answer. */
  readonly definiteAfterMs: number | undefined;
}

const RUNS_AGAIN: ReadonlySet<Mode> = new Set(['keyed', 'sealed', 'transactional']);

export function isSuccess({ status }: Answer): boolean {
  return status === 201;
}

export function isDefinite(answer: Answer): boolean {
  return isSuccess(answer) || isUnknown(answer);
}

function isUnknown({ status, text }: Answer): boolean {
  return status === 409 && text.endsWith('{"error":"outcome_unknown"}');
}

/** What no mode may do, and what this one has promised and not kept. Empty when all is well. */
export function violationsIn(seen: Observation): string[] {
  const { mode, fate } = seen.crash;
  const { effects, granted, told, retries, last } = seen;
  const definite = [told, ...retries, ...last].filter(isDefinite);
  // A process that lives lets go of what it has not begun, and saves what it has done, in any mode.
  const isOwedAnAnswer = mode !== 'blind' || LOST.includes(fate);
  const rules: readonly (readonly [isBroken: boolean, violation: string])[] = [
    [!seen.isMet, 'the case was not met'],
    [effects.length > 1, `${effects.length} effects`],
    [RUNS_AGAIN.has(mode) && effects.length === 0, 'no effect'],
    [isOwedAnAnswer && seen.definiteAfterMs === undefined, 'no definite answer in time'],
    [RUNS_AGAIN.has(mode) && !last.every(isSuccess), 'no result in the end'],
    [isSuccess(told) && !last.every(isSuccess), 'a result that is not replayed'],
    [new Set(definite.map(({ text }) => text)).size > 1, 'answers that differ'],
    [isTakenBack([...retries, ...last]), 'a definite answer that is taken back'],
    [definite.some(isSuccess) && effects.length === 0, 'a result without an effect'],
    [mode !== 'unknown' && definite.some(isUnknown), 'a result that is given up'],
    [granted.some((number, n) => number < (granted[n - 1] ?? 0)), 'a number that goes down'],
    [![...retries, ...last].every(isOurs), 'an answer that is none of ours'],
  ];
  return rules.filter(([isBroken]) => isBroken).map(([, violation]) => violation);
}

function isTakenBack(answers: readonly Answer[]): boolean {
  const first = answers.findIndex(isDefinite);
  return first >= 0 && !answers.slice(first).every(isDefinite);
}

/** A result, one of our words for "not yet", or "come again". */
function isOurs(answer: Answer): boolean {
  const { status, text } = answer;
  return isDefinite(answer) || status === 503 || text.endsWith('{"error":"request_pending"}');
}
