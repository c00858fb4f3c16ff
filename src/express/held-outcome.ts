import { drain, sendHeld, sendInstead, startStreaming } from './first-byte.ts';
import type { HeldResponse, Hold, Verdict } from './hold.ts';
import type { ResponseHead } from './response-head.ts';
import { lowerShield, raiseShield } from './socket-shield.ts';

/** The handler has ended its answer: it is saved, then it leaves. */
export function conclude(res: HeldResponse, hold: Hold): void {
  const { stage, verdict } = hold;
  if (stage === 'drained' && verdict !== undefined) sendInstead(res, hold, verdict);
  else if (hold.body.size > hold.settings.maxBytes) {
    if (stage === 'held') spill(res, hold);
  } else finish(res, hold);
}

function finish(res: HeldResponse, hold: Hold): void {
  hold.stage = 'ended';
  const { settings, body } = hold;
  const head = hold.head as ResponseHead;
  const bytes = body.take();
  if (res._hasBody && head.mendLength(bytes.length)) settings.report?.('length-mended');
  if (!settings.isOutcome(head.status)) {
    sendHeld(res, hold, bytes);
    return;
  }
  const { status, reason, lines: headers, removedNames } = head;
  const verdict = settings.save(
    reason
      ? { kept: true, status, reason, headers, removedNames, body: bytes }
      : { kept: true, status, headers, removedNames, body: bytes },
  );
  whenSaved(res, hold, verdict, () => sendHeld(res, hold, bytes));
}

/** A body over the limit: the action is done, and that is saved before the first byte leaves. */
export function spill(res: HeldResponse, hold: Hold): boolean {
  hold.stage = 'spilling';
  const { status } = hold.head as ResponseHead;
  if (!hold.settings.isOutcome(status)) startStreaming(res, hold);
  else {
    const verdict = hold.settings.save({ kept: false, status });
    whenSaved(res, hold, verdict, () => startStreaming(res, hold));
  }
  return false;
}

/** Begun inside the handler's call, so that listeners keep its asynchronous context. */
function whenSaved(
  res: HeldResponse,
  hold: Hold,
  verdict: Verdict | Promise<Verdict>,
  send: () => void,
): void {
  if (typeof verdict !== 'object') {
    decide(res, hold, verdict, send);
    return;
  }
  // That of a pipelined response is its request's until its turn comes.
  const socket = res.req?.socket ?? undefined;
  if (socket !== undefined) raiseShield(socket);
  void verdict.then((settled) => {
    decide(res, hold, settled, send);
    if (socket !== undefined) lowerShield(socket);
  });
}

function decide(res: HeldResponse, hold: Hold, verdict: Verdict, send: () => void): void {
  if (hold.stage === 'open') return;
  if (verdict === 'send') send();
  else if (res.finished) sendInstead(res, hold, verdict);
  else drain(res, hold, verdict);
}
