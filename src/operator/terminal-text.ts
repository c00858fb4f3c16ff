/**
 * What a terminal may act on, or may not show: controls of both sets, ESC among them, signs that
 * turn the direction of writing or take no room, lone surrogates, line separators, and every space
 * but the one.
 */
const UNSEEN = /(?! )[\p{C}\p{Z}]/gu;

/** Text of somebody else's for a terminal: what could act on it is shown as `\u001b`. */
export function visible(text: string): string {
  return text.replaceAll('\\', '\\\\').replace(UNSEEN, escaped);
}

/** The same for text of several lines: the breaks stay. */
export function visibleLines(text: string): string[] {
  return text.split(/\r?\n/).map(visible);
}

/** JSON on one line that is as safe to look at. To a parser it is the same value. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSEEN, escaped);
}

/** Each half of a pair by itself, as JSON has it. */
function escaped(unseen: string): string {
  return unseen
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
