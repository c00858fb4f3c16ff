/**
 * Whether a statement would end the transaction that it is sent in: also BEGIN and whatever changes
 * a schema do, since MySQL commits before them without a word.
 */
export function commitsByItself(text: string): boolean {
  return MAY_END.test(text) && ENDS.test(text.replace(OPAQUE, ' '));
}

const VERBS = [
  'commit|begin|alter|rename|truncate|grant|revoke|xa|lock|unlock|flush|optimize|analyze|repair',
  'rollback(?!\\s+(?:work\\s+)?to\\b)',
  'start\\s+(?!slave|replica)|(?:create|drop)\\s+(?!temporary)',
  'set\\s[^;]*\\bautocommit\\b',
].join('|');

const ENDS = new RegExp(`(?:^|;|/\\*M?!\\d*)\\s*(?:${VERBS})\\b`, 'i');
/** A quick look, since most statements hold none of these words. */
const MAY_END = new RegExp(`\\b(?:${VERBS})\\b`, 'i');

/** Text in which a semicolon or a word means nothing: strings, names, comments. */
const OPAQUE = new RegExp(
  [
    /'(?:[^'\\]|\\[\s\S]|'')*'/,
    /"(?:[^"\\]|\\[\s\S]|"")*"/,
    /`[^`]*`/,
    /(?:--\s|#)[^\n]*/,
    /\/\*(?!M?!)[\s\S]*?\*\//,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);
