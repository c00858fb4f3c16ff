import type {
  Attempt,
  CompleteInCapability,
  IdempotencyStore,
  SettleCapability,
  StoreCall,
} from '../../src/index.ts';

/** A rule that is easily taken for enough, and is not. */
export type Naivety = 'frees after the lease' | 'looks without a seal' | 'completes for anybody';

/** `store` without the rule. What looks without a seal is `recover`, not the store. */
export function naiveStore(
  store: IdempotencyStore,
  naivety: Naivety | undefined,
): IdempotencyStore {
  if (naivety === 'frees after the lease') return freeing(store as FreeableStore);
  if (naivety === 'completes for anybody') return completing(store);
  return store;
}

type FreeableStore = IdempotencyStore & SettleCapability;

/** "Its lease is over, so it is dead": the key is freed, and claimed as if it were new. */
function freeing(store: FreeableStore): IdempotencyStore {
  return overriding(store, {
    async claim(key: string, fingerprint: string, context: Attempt, call: StoreCall) {
      const claim = await store.claim(key, fingerprint, context, call);
      if (claim.kind !== 'pending' || claim.leaseOver !== true) return claim;
      const note = { reason: 'its lease is over', by: 'a timer' };
      await store.settle(key, { kind: 'never-started' }, note, { force: true }, call);
      return store.claim(key, fingerprint, context, call);
    },
  });
}

/** "It has its answer, so it may save it": whoever owns the record by now. */
function completing(store: IdempotencyStore & Partial<CompleteInCapability>): IdempotencyStore {
  const { completeIn } = store;
  return overriding(store, {
    complete: (...args: Parameters<IdempotencyStore['complete']>) =>
      store.complete(...args).catch(() => {}),
    ...(completeIn && {
      completeIn: (...args: Parameters<CompleteInCapability['completeIn']>) =>
        completeIn.apply(store, args).catch(() => {}),
    }),
  });
}

/** `store` with other methods in place of some of its own. */
export function overriding(store: IdempotencyStore, methods: object): IdempotencyStore {
  return new Proxy(store, {
    get(owner, name) {
      if (Object.hasOwn(methods, name)) return Reflect.get(methods, name);
      const value: unknown = Reflect.get(owner, name, owner);
      return typeof value === 'function' && name !== 'constructor' ? value.bind(owner) : value;
    },
  });
}
