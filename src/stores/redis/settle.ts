import { randomUUID } from 'node:crypto';
import type { SettleAnswer, Settlement, SettlementNote } from '../../core/recovery-capabilities.ts';
import { settlementText } from '../kept-settlement.ts';
import type { RedisKeep } from './complete.ts';
import { corrupt, field, LUA_HEAD } from './record.ts';
import type { RecordCall, RecordScript } from './record-script.ts';
import { LUA_PRELUDE, script } from './script.ts';

/**
 * What completes a record by hand takes it from its owner, so that the owner's own `complete`
 * meets a stranger. The note goes to the end of the state.
 */
export const SETTLE: RecordScript = {
  name: 'settle',
  argsPerRecord: 7,
  promises: (reply) => reply === 1,
  script: script(
    'allow-oom',
    `${LUA_PRELUDE}
local function settle(r, b, kind, force, owner, body, bodyFor, stateFor, note)
  local found = redis.pcall('GET', r)
  if not found then return -1 end
  if found.err then return found end
  local state, attempt, created, leaseUntil, from, length, at = string.match(found, ${LUA_HEAD})
  if not state then return -9 end
  if state ~= 'P' then return -2 end
  if force ~= '1' and tonumber(leaseUntil) > now then return -3 end
  if kind == 'done' then
    local head = '1C ' .. attempt .. ' ' .. created .. ' 0 ' .. nowText .. ' '
    redis.call('SET', b, body, 'PX', bodyFor)
    redis.call('SET', r, head .. owner .. string.sub(found, at + length) .. note, 'PX', stateFor)
  elseif attempt == '1' then
    redis.call('DEL', r)
  else
    local head = '1P ' .. attempt .. ' ' .. created .. ' ' .. nowText .. ' 0 '
    redis.call('SET', r, head .. string.sub(found, from) .. note)
  end
  return 1
end
for i = 1, #KEYS / 2 do
  replies[i] = settle(KEYS[i * 2 - 1], KEYS[i * 2], unpack(ARGV, i * 7 - 4, i * 7 + 2))
end
return replies`,
  ),
};

/** `body` is the response that the record is completed with; without one it never started. */
export function settleCall(
  kind: Settlement['kind'],
  body: Buffer | undefined,
  note: SettlementNote,
  force: boolean,
  keep: RedisKeep,
): RecordCall {
  const args = [
    body === undefined ? 'never-started' : 'done',
    force ? '1' : '0',
    field(randomUUID()),
    body ?? '',
    keep.bodyForMs,
    keep.stateForMs,
    field(settlementText({ kind, ...note, forced: force })),
  ];
  return { args, bytes: body?.length ?? 0 };
}

/** @throws {IdempotencyError} `record_corrupt`. */
export function settleAnswerOf(reply: unknown): SettleAnswer {
  switch (reply) {
    case 1:
      return 'settled';
    case -1:
      return 'absent';
    case -2:
      return 'not-pending';
    case -3:
      return 'lease-holds';
    default:
      throw corrupt();
  }
}
