import { recordReference } from '../core/record-key.ts';
import type { SavedResponse } from '../core/saved-response.ts';
import type { SettlementAudit } from '../core/settlement-audit.ts';
import type { ListedRecord } from '../core/store.ts';
import type { ShownRecord } from './shown-record.ts';
import { visible, visibleJson, visibleLines } from './terminal-text.ts';

/** What of a saved response is shown: its values are a client's business, unless asked for. */
export interface ResponseParts {
  readonly headers: boolean;
  readonly body: boolean;
}

/** What the columns of {@link listLine} are. */
export function listHead(): string {
  return columns('REFERENCE', 'STATE', 'AGE', 'LEASE', 'ATTEMPT', 'RECORD');
}

/** One record as a line. */
export function listLine(record: ListedRecord, nowMs: number): string {
  const { recordKey, state, createdAtMs, attempt, tenant, operation, key } = record;
  const of = tenant === undefined ? '' : `tenant ${short(tenant)}`;
  const what = [short(operation ?? ''), short(key), of].filter((text) => text !== '').join('  ');
  const reference = recordReference(recordKey).slice(0, SHORT_DIGITS);
  const lease = state === 'pending' ? leaseWord(record, nowMs) : '-';
  return columns(reference, state, durationText(nowMs - createdAtMs), lease, `${attempt}`, what);
}

/** One record as JSON on a line; times are milliseconds since 1970. */
export function listJson(record: ListedRecord): string {
  return visibleJson(plain({ reference: recordReference(record.recordKey), ...record }));
}

/** One record in many lines. */
export function showLines(record: ShownRecord, parts: ResponseParts, nowMs: number): string[] {
  const { state, createdAtMs, completedAtMs, settlement, response } = record;
  const lines: [string, string][] = [
    ['reference', record.reference],
    ['state', state],
    ['tenant', record.tenant === undefined ? '-' : visible(record.tenant)],
    ['operation', record.operation === undefined ? '-' : visible(record.operation)],
    ['key', visible(record.key)],
    ['attempt', String(record.attempt)],
    ['claimed', momentText(createdAtMs, nowMs)],
  ];
  if (state === 'pending') lines.push(['lease', leaseText(record, nowMs)]);
  if (completedAtMs !== undefined) lines.push(['completed', momentText(completedAtMs, nowMs)]);
  if (settlement !== undefined) lines.push(['settled', settlementOf(settlement)]);
  if (response !== undefined) lines.push(['answer', responseText(response)]);
  const answer = response === undefined ? [] : responseLines(response, parts);
  return [...lines.map(([name, text]) => name.padEnd(NAME_WIDTH) + text), ...answer];
}

export function showJson(record: ShownRecord, parts: ResponseParts): string {
  const { response, ...rest } = record;
  const answer = response && responseJson(response, parts);
  return visibleJson({ ...plain(rest), response: answer ?? null });
}

/** When, and how long ago or ahead that is. */
export function momentText(atMs: number, nowMs: number): string {
  const away = durationText(Math.abs(nowMs - atMs));
  return `${new Date(atMs).toISOString()} (${nowMs >= atMs ? `${away} ago` : `in ${away}`})`;
}

const SHORT_DIGITS = 16;
const SHORT_CHARACTERS = 60;
const NAME_WIDTH = 11;
const COLUMN_WIDTHS = [SHORT_DIGITS, 9, 7, 7, 7] as const;
const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

function columns(...texts: readonly string[]): string {
  return texts.map((text, at) => text.padEnd(COLUMN_WIDTHS[at] ?? 0)).join('  ');
}

function short(text: string): string {
  const shown = text.length > SHORT_CHARACTERS ? `${text.slice(0, SHORT_CHARACTERS)}…` : text;
  return visible(shown);
}

/** One unit is enough to know an old one from a new one. */
function durationText(ms: number): string {
  const [unitMs, unit] = UNITS.find(([eachMs]) => ms >= eachMs) ?? [1_000, 's'];
  return `${Math.max(0, Math.floor(ms / unitMs))} ${unit}`;
}

function leaseWord({ leaseUntilMs }: { leaseUntilMs: number | undefined }, nowMs: number) {
  if (leaseUntilMs === undefined) return 'none';
  return leaseUntilMs > nowMs ? 'holds' : 'over';
}

function leaseText({ leaseUntilMs }: ShownRecord, nowMs: number): string {
  if (leaseUntilMs === undefined) return 'none: nothing tells whether its process still runs';
  const until = momentText(leaseUntilMs, nowMs);
  return leaseUntilMs > nowMs ? `holds until ${until}` : `over since ${until}`;
}

function settlementOf({ kind, by, reason, forced }: SettlementAudit): string {
  return `${kind}${forced ? ', forced,' : ''} by ${visible(by)}: ${visible(reason)}`;
}

/** What is undefined is said to be nothing; the owner is nobody's business. */
function plain({ owner: _, ...record }: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, value === undefined ? null : value]),
  );
}

function responseText(response: SavedResponse): string {
  if (!response.kept) return `${response.status}, too large to keep`;
  const { status, headers, body } = response;
  const lines = headers.length === 1 ? '1 header line' : `${headers.length} header lines`;
  return `${status}, ${lines}, ${body.byteLength} bytes`;
}

function responseLines(response: SavedResponse, parts: ResponseParts): string[] {
  if (!response.kept) return [];
  const headers = response.headers.map(([name, value]) => `  ${visible(`${name}: ${value}`)}`);
  const text = textOf(response.body);
  const body = text === undefined ? [base64Of(response.body)] : visibleLines(text);
  return [
    ...(parts.headers ? headers : []),
    ...(parts.body ? ['', ...body.map((line) => `  ${line}`)] : []),
  ];
}

function responseJson(response: SavedResponse, parts: ResponseParts): object {
  if (!response.kept) return response;
  const { kept, status, reason, headers, removedNames, body } = response;
  const text = textOf(body);
  const bytes = text === undefined ? { bodyBase64: base64Of(body) } : { body: text };
  return {
    kept,
    status,
    ...(parts.headers ? { reason, headers, removedNames } : { headerLines: headers.length }),
    bodyBytes: body.byteLength,
    ...(parts.body ? bytes : {}),
  };
}

/** The bytes as text, unless they are none. */
function textOf(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

function base64Of(body: Uint8Array): string {
  return Buffer.from(body).toString('base64');
}
