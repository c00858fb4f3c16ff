import type { RecordScript } from './record-script.ts';
import { script } from './script.ts';

/**
 * Both keys of a record at one moment, without touching them: its state, and its body or, when only
 * the state is asked for, whether there is one. It also runs when the server is out of memory.
 */
export const LOOK: RecordScript = {
  name: 'inspect',
  argsPerRecord: 1,
  promises: () => false,
  script: script(
    'no-writes',
    `
local replies = {}
local function look(r, b, what)
  local state = redis.pcall('GET', r)
  if not state then return 0 end
  if state.err then return state end
  local body
  if what == 'body' then body = redis.pcall('GET', b) else body = redis.call('EXISTS', b) end
  return { state, body }
end
for i = 1, #KEYS / 2 do replies[i] = look(KEYS[i * 2 - 1], KEYS[i * 2], ARGV[i + 2]) end
return replies`,
  ),
};
