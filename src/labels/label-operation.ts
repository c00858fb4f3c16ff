import { createHash } from 'node:crypto';

/**
 * What a client wants done, stored before the first attempt and sent unchanged at each one.
 * The names are those of the JSON body.
 */
export interface LabelOperation {
  /** Names the operation, not the message: it is also the idempotency key. */
  readonly request_id: string;
  /** The parcel that gets a label. Two request ids for one parcel are two operations. */
  readonly parcel_id: string;
}

/** Whether both fields are non-empty strings of `[A-Za-z0-9_-]`. */
export function isLabelOperation(value: { [name in keyof LabelOperation]?: unknown }): boolean {
  return isName(value.request_id) && isName(value.parcel_id);
}

/**
 * The operation that a request body holds, or `undefined` when it holds anything else.
 *
 * `JSON.parse` keeps the last of two members of one name and says nothing. So the grammar of the
 * only bodies that are accepted is matched as a whole, and each of its four strings is parsed.
 */
export function parseLabelOperation(body: Buffer): LabelOperation | undefined {
  const strings = TWO_MEMBERS.exec(body.toString())
    ?.slice(1)
    .map((text) => JSON.parse(text));
  if (strings === undefined) return undefined;
  const members = new Map([strings.slice(0, 2), strings.slice(2)] as [string, string][]);
  const request_id = members.get('request_id');
  const parcel_id = members.get('parcel_id');
  return isName(request_id) && isName(parcel_id) ? { request_id, parcel_id } : undefined;
}

/** Of the values, not of the bytes: the order of the members and white space do not count. */
export function labelFingerprint({ request_id, parcel_id }: LabelOperation): string {
  return createHash('sha256').update(`${request_id}\n${parcel_id}`).digest('hex');
}

const SPACE = '[ \\t\\n\\r]*';
const STRING = '("(?:[^"\\\\\\u0000-\\u001f]|\\\\(?:["\\\\/bfnrt]|u[0-9A-Fa-f]{4}))*")';
const MEMBER = `${SPACE}${STRING}${SPACE}:${SPACE}${STRING}${SPACE}`;
/** A JSON object of exactly two members, both strings, and nothing around it but white space. */
const TWO_MEMBERS = new RegExp(`^${SPACE}\\{${MEMBER},${MEMBER}\\}${SPACE}$`);
const NAME = /^[A-Za-z0-9_-]+$/;

function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value);
}
