import type { TakeOver, TakeOverOptions } from '../../core/recovery-capabilities.ts';
import type { Attempt } from '../../core/store.ts';
import { corrupt, field, LUA_HEAD } from './record.ts';
import type { RecordCall, RecordScript } from './record-script.ts';
import { LUA_PRELUDE, script } from './script.ts';

/**
 * The first claim keeps its time, and what the record is for stays as it is. Whoever took is told
 * so again when it asks again: its reply may have been lost.
 */
export const TAKE_OVER: RecordScript = {
  name: 'takeOver',
  argsPerRecord: 4,
  promises: (reply) => typeof reply === 'number' && reply > 0,
  script: script(
    'allow-oom',
    `${LUA_PRELUDE}
local function take(r, owner, fingerprint, lease, within)
  local found = redis.pcall('GET', r)
  if not found then return 0 end
  if found.err then return found end
  local state, attempt, created, leaseUntil, from, length, at = string.match(found, ${LUA_HEAD})
  if not state then return -9 end
  at = at + length
  if state ~= 'P' then return 0 end
  if string.sub(found, at, at + #fingerprint - 1) ~= fingerprint then return 0 end
  if string.sub(found, from, at - 1) == owner then
    if confirm then redis.call('SET', r, found) end
    return tonumber(attempt)
  end
  leaseUntil = tonumber(leaseUntil)
  if leaseUntil == 0 or leaseUntil > now then return 0 end
  if within ~= '' and now - created > tonumber(within) then return -1 end
  if lease ~= '0' then lease = text(now + lease) end
  local head = '1P ' .. text(attempt + 1) .. ' ' .. created .. ' ' .. lease .. ' 0 '
  redis.call('SET', r, head .. owner .. string.sub(found, at))
  return attempt + 1
end
for i = 1, #KEYS / 2 do
  local a = i * 4 - 1
  replies[i] = take(KEYS[i * 2 - 1], ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3])
end
return replies`,
  ),
};

export function takeOverCall(
  fingerprint: string,
  { owner, leaseMs = 0 }: Attempt,
  { withinMs }: TakeOverOptions,
): RecordCall {
  const within = withinMs === undefined ? '' : `${withinMs}`;
  return { args: [field(owner), field(fingerprint), `${Math.ceil(leaseMs)}`, within], bytes: 0 };
}

/** @throws {IdempotencyError} `record_corrupt`. */
export function takeOverOf(reply: unknown): TakeOver {
  if (typeof reply !== 'number' || reply === -9) throw corrupt();
  if (reply > 0) return { kind: 'taken', attempt: reply };
  return reply === 0 ? { kind: 'not-taken' } : { kind: 'too-late' };
}
