import { FencedError } from '../../core/errors.ts';
import { corrupt, field, LUA_HEAD } from './record.ts';
import type { RecordCall, RecordScript } from './record-script.ts';
import { LUA_PRELUDE, script } from './script.ts';

/**
 * Allowed when the server is out of memory: the action is done, and its result must be kept. The
 * owner is compared, and nothing else. Both keys are written in one step, and given their time to
 * live only now.
 */
export const COMPLETE: RecordScript = {
  name: 'complete',
  argsPerRecord: 4,
  promises: (reply) => reply === 1,
  script: script(
    'allow-oom',
    `${LUA_PRELUDE}
local function complete(r, b, owner, body, bodyFor, stateFor)
  local found = redis.pcall('GET', r)
  if not found then return 0 end
  if found.err then return found end
  local state, attempt, created, _, from, length, at = string.match(found, ${LUA_HEAD})
  if not state then return -9 end
  if string.sub(found, from, at + length - 1) ~= owner then return 0 end
  if state == 'P' then
    local head = '1C ' .. attempt .. ' ' .. created .. ' 0 ' .. nowText .. ' '
    redis.call('SET', b, body, 'PX', bodyFor)
    redis.call('SET', r, head .. string.sub(found, from), 'PX', stateFor)
  elseif confirm then
    redis.call('PEXPIREAT', r, redis.call('PEXPIRETIME', r))
  end
  return 1
end
for i = 1, #KEYS / 2 do
  replies[i] = complete(KEYS[i * 2 - 1], KEYS[i * 2], unpack(ARGV, i * 4 - 1, i * 4 + 2))
end
return replies`,
  ),
};

export function completeCall(owner: string, body: Buffer, keep: RedisKeep): RecordCall {
  return { args: [field(owner), body, keep.bodyForMs, keep.stateForMs], bytes: body.length };
}

/** How long the two keys of a completed record live, as Redis takes it. */
export interface RedisKeep {
  readonly bodyForMs: string;
  readonly stateForMs: string;
}

/** @throws {FencedError} */
export function throwUnlessDone(reply: unknown): void {
  if (reply === 1) return;
  throw reply === 0 ? new FencedError() : corrupt();
}
