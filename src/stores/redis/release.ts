import { corrupt, field, LUA_HEAD } from './record.ts';
import type { RecordCall, RecordScript } from './record-script.ts';
import { LUA_PRELUDE, script } from './script.ts';

/** Deletes the record at attempt 1; later only ends its lease: the number must not go down. */
export const RELEASE: RecordScript = {
  name: 'release',
  argsPerRecord: 1,
  promises: () => true,
  script: script(
    'allow-oom',
    `${LUA_PRELUDE}
local function release(r, owner)
  local found = redis.pcall('GET', r)
  if not found then return 0 end
  if found.err then return found end
  local state, attempt, created, _, from, length, at = string.match(found, ${LUA_HEAD})
  if not state then return -9 end
  if state ~= 'P' or string.sub(found, from, at + length - 1) ~= owner then return 0 end
  if attempt == '1' then
    redis.call('DEL', r)
  else
    local head = '1P ' .. attempt .. ' ' .. created .. ' ' .. nowText .. ' 0 '
    redis.call('SET', r, head .. string.sub(found, from))
  end
  return 1
end
for i = 1, #KEYS / 2 do replies[i] = release(KEYS[i * 2 - 1], ARGV[i + 2]) end
return replies`,
  ),
};

export function releaseCall(owner: string): RecordCall {
  return { args: [field(owner)], bytes: 0 };
}

/** @throws {IdempotencyError} `record_corrupt`. */
export function throwIfCorrupt(reply: unknown): void {
  if (reply === -9) throw corrupt();
}
