import type { SavedResponse } from '../../core/saved-response.ts';
import type { Attempt, Claim } from '../../core/store.ts';
import type { StoredState } from './record.ts';
import { corrupt, field, identityOf, LUA_HEAD } from './record.ts';
import type { RecordCall, RecordScript } from './record-script.ts';
import { LUA_PRELUDE, script } from './script.ts';

/**
 * One decision over both keys of a record. Not allowed without memory, so that a new key is
 * refused then; {@link claimOfFound} answers for records that are there already.
 *
 * A record of another owner or another fingerprint is not written to. What is promised to the
 * caller (`new`, a response) is written once more when replicas are waited for: WAIT looks at the
 * writes of its own connection, and the first one may have come over another.
 */
export const CLAIM: RecordScript = {
  name: 'claim',
  argsPerRecord: 4,
  promises: (reply) => typeof reply !== 'number' || reply > 0,
  script: script(
    '',
    `${LUA_PRELUDE}
local function claim(r, b, owner, fingerprint, identity, lease)
  local found = redis.pcall('GET', r)
  if not found then
    if lease ~= '0' then lease = text(now + lease) end
    local head = '1P 1 ' .. nowText .. ' ' .. lease .. ' 0 '
    local made = redis.pcall('SET', r, head .. owner .. fingerprint .. identity)
    if made.err then return made end
    return 1
  end
  if found.err then return found end
  local state, attempt, _, leaseUntil, from, length, at = string.match(found, ${LUA_HEAD})
  if not state then return -9 end
  at = at + length
  if string.sub(found, at, at + #fingerprint - 1) ~= fingerprint then return -3 end
  if state == 'P' then
    if string.sub(found, from, at - 1) == owner then
      if confirm then redis.call('SET', r, found) end
      return tonumber(attempt)
    end
    leaseUntil = tonumber(leaseUntil)
    if leaseUntil > 0 and leaseUntil <= now then return -1 end
    return 0
  end
  local body = redis.pcall('GET', b)
  if not body then return -2 end
  if confirm then redis.call('PEXPIREAT', r, redis.call('PEXPIRETIME', r)) end
  return body
end
for i = 1, #KEYS / 2 do
  local a = i * 4 - 1
  replies[i] = claim(KEYS[i * 2 - 1], KEYS[i * 2], ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3])
end
return replies`,
  ),
};

export function claimCall(fingerprint: string, context: Attempt): RecordCall {
  const { owner, leaseMs = 0 } = context;
  const args = [field(owner), field(fingerprint), identityOf(context), `${Math.ceil(leaseMs)}`];
  return { args, bytes: 0 };
}

/**
 * The answer in all cases but a replay, whose reply is the saved response.
 *
 * @throws {IdempotencyError} `record_corrupt`.
 */
export function claimOf(reply: number): Claim {
  if (reply > 0) return { kind: 'new', attempt: reply };
  switch (reply) {
    case 0:
      return { kind: 'pending', leaseOver: false };
    case -1:
      return { kind: 'pending', leaseOver: true };
    case -2:
      return { kind: 'expired' };
    case -3:
      return { kind: 'conflict' };
    default:
      throw corrupt();
  }
}

/** The same answer from what is known of a record that is there. */
export function claimOfFound(
  stored: StoredState,
  response: SavedResponse | undefined,
  fingerprint: string,
  owner: string,
): Claim {
  if (stored.fingerprint !== fingerprint) return { kind: 'conflict' };
  if (stored.isPending) {
    return stored.owner === owner ? { kind: 'new', attempt: stored.attempt } : { kind: 'pending' };
  }
  return response === undefined ? { kind: 'expired' } : { kind: 'replay', response };
}
