import { isSavedResponse } from './claim-check.ts';
import type { SavedResponse } from './saved-response.ts';

/** Whether `value`, by whomever it was made, is a response that HTTP can carry to every retry. */
export function isSendable(value: unknown): value is SavedResponse {
  if (!isSavedResponse(value) || !isFinalStatus(value.status)) return false;
  if (!value.kept) return true;
  const { reason, headers, removedNames } = value;
  if (reason !== undefined && !isHeaderValue(reason)) return false;
  if (!removedNames.every(isHeaderName)) return false;
  return headers.every(
    ([name, text]) => isHeaderName(name) && !isSetForYou(name.toLowerCase()) && isHeaderValue(text),
  );
}

/** One of 1xx is followed by another answer, and there is none. */
export function isFinalStatus(status: unknown): status is number {
  return Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 599;
}

/** A token of RFC 9110, section 5.6.2. */
export function isHeaderName(name: string): boolean {
  return TOKEN.test(name);
}

/** Text without what Node refuses in a header line or a reason phrase. */
export function isHeaderValue(value: unknown): value is string {
  return typeof value === 'string' && !NO_VALUE.test(value);
}

/** Lengths and what belongs to one connection are set at each sending. */
export function isSetForYou(lowerName: string): boolean {
  return SET_FOR_YOU.has(lowerName);
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const NO_VALUE = /[^\t\u0020-\u007e\u0080-\u00ff]/;
const SET_FOR_YOU: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
