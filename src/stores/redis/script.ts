import { hash } from 'node:crypto';

/** A Lua script, and the name under which a server that has seen it knows it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/**
 * What a script may do is told to the server ahead of time, so that one that cannot be carried
 * out is refused before it runs: on a replica, or while the server has no memory left.
 */
export type ScriptFlags = '' | 'allow-oom' | 'no-writes';

export function script(flags: ScriptFlags, body: string): Script {
  const text = `#!lua${flags === '' ? '' : ` flags=${flags}`}\n${body.trim()}\n`;
  return { text, sha: hash('sha1', text) };
}

/**
 * What every script of records is given before the records: whether a promise is to be written once
 * more, and the time, which only tests give. Else it is the server's, in whole milliseconds.
 */
export const LUA_PRELUDE = `
local confirm = ARGV[1] == '1'
local now = tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local function text(number) return string.format('%.0f', number) end
local nowText = text(now)
local replies = {}
`;
