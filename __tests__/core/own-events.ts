import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EVENTS, type EventName, type IdempotencyEvent } from '../../src/core/events.ts';

/**
 * Hears the events of this file's attempts until the function that it answers is called. Channels
 * are of the whole process: what a file that ended before this one still gives back in the
 * background would be heard too. Each file has objects of its own, by which its events are known.
 */
export function hearOwn(
  hear: (event: IdempotencyEvent) => unknown,
  names: readonly EventName[] = Object.keys(EVENTS) as EventName[],
): () => void {
  const listen = (message: unknown) => {
    const isOwn = Object.getPrototypeOf(message) === Object.prototype;
    if (isOwn) hear(message as IdempotencyEvent);
  };
  for (const name of names) subscribe(`express-idempotent:${name}`, listen);
  return () => {
    for (const name of names) unsubscribe(`express-idempotent:${name}`, listen);
  };
}
