export { type FaultTiming, FaultyStore, type StoreFault } from './faulty-store.ts';
export { SettableClock } from './settable-clock.ts';
export {
  type StoreEvent,
  StoreHistory,
  type StoreMethod,
  type StoreOutcome,
} from './store-history.ts';
