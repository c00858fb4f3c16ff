/** A text as a pattern of Redis that fits that text only. */
export function globbed(text: string): string {
  return text.replace(/[\\*?[\]^]/g, '\\$&');
}
