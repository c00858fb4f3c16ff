import type { IdempotencyStore } from '../../src/index.ts';

/** What is written down of a store's calls; the rest only helps to make them. */
const CALLS: { readonly [method: string]: string | undefined } = {
  claim: 'claim',
  takeOver: 'take over',
  complete: 'complete',
  completeIn: 'complete',
  release: 'release',
};

/** The same store, and each call of it is written down first. */
export function journalled<Store extends IdempotencyStore>(
  store: Store,
  write: (call: string) => void,
): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        const call = CALLS[String(name)];
        if (call !== undefined) write(call);
        const answer: unknown = Reflect.apply(member, target, args);
        // It has run what the handler writes, and completed the record after it.
        if (name === 'commitSync') write('complete');
        return answer;
      };
    },
  });
}
