import { field, LUA_HEAD } from './record.ts';
import type { RecordCall, RecordScript } from './record-script.ts';
import { LUA_PRELUDE, script } from './script.ts';

/** Compares the owner and nothing else: a lease that its owner moved before is still its own. */
export const RENEW: RecordScript = {
  name: 'renew',
  argsPerRecord: 2,
  promises: (reply) => reply === 1,
  script: script(
    'allow-oom',
    `${LUA_PRELUDE}
local function renew(r, owner, lease)
  local found = redis.pcall('GET', r)
  if not found then return 0 end
  if found.err then return found end
  local state, attempt, created, _, from, length, at = string.match(found, ${LUA_HEAD})
  if not state then return -9 end
  if state ~= 'P' or string.sub(found, from, at + length - 1) ~= owner then return 0 end
  local head = '1P ' .. attempt .. ' ' .. created .. ' ' .. text(now + lease) .. ' 0 '
  redis.call('SET', r, head .. string.sub(found, from))
  return 1
end
for i = 1, #KEYS / 2 do
  replies[i] = renew(KEYS[i * 2 - 1], ARGV[i * 2 + 1], ARGV[i * 2 + 2])
end
return replies`,
  ),
};

export function renewCall(owner: string, leaseMs: number): RecordCall {
  return { args: [field(owner), `${Math.ceil(leaseMs)}`], bytes: 0 };
}
