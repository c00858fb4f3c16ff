/**
 * Whether a statement, or one of several in a text, would end the transaction that it is sent in.
 * A rollback to a savepoint does not.
 */
export function endsTransaction(text: string): boolean {
  return MAY_END.test(text) && text.replace(OPAQUE, ' ').search(ENDS) !== -1;
}

/** Whether it is COMMIT, as libraries write it. */
export function isCommit(text: string): boolean {
  return /^\s*commit\s*;?\s*$/i.test(text);
}

/** Whether it is ROLLBACK, as libraries write it. */
export function isRollback(text: string): boolean {
  return /^\s*rollback\s*;?\s*$/i.test(text);
}

/** Whether it is BEGIN or START TRANSACTION, as libraries write it. */
export function isBegin(text: string): boolean {
  return /^\s*(begin|start\s+transaction)\b[^;]*;?\s*$/i.test(text);
}

/** A quick look, since most statements hold none of these words. */
const MAY_END = /\b(commit|end|abort|rollback|prepare)\b/i;

const ENDS = union([
  /(?:^|;)\s*(?:commit|end|abort)\b/,
  /(?:^|;)\s*rollback\b(?!\s+(?:(?:work|transaction)\s+)?to\b)/,
  /(?:^|;)\s*prepare\s+transaction\b/,
]);

/** Text in which a semicolon or a word means nothing: strings, names, bodies, comments. */
const OPAQUE = union([
  /\be'(?:[^'\\]|\\[\s\S]|'')*'/,
  /'(?:[^']|'')*'/,
  /"(?:[^"]|"")*"/,
  /`[^`]*`/,
  /\$(\w*)\$[\s\S]*?\$\1\$/,
  /--[^\n]*/,
  /\/\*[\s\S]*?\*\//,
]);

function union(patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'gi');
}
