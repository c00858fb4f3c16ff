export {
  type ContractClock,
  type ContractNeed,
  lackingNeeds,
  type MakeStore,
  type StoreContractCase,
  type StoreUnderTest,
} from './contract-case.ts';
export { type FaultTiming, FaultyStore, type StoreFault } from './faulty-store.ts';
export {
  FINGERPRINT_VECTORS,
  type FingerprintVector,
  RECORD_KEY_VECTORS,
  type RecordKeyVector,
  SAVED_RESPONSE_VECTORS,
  type SavedResponseVector,
} from './golden-vectors.ts';
export { checkHistory } from './history-check.ts';
export { SettableClock } from './settable-clock.ts';
export { STORE_CONTRACT } from './store-contract.ts';
export {
  type StoreAnswer,
  type StoreCallNote,
  type StoreEvent,
  StoreHistory,
  type StoreMethod,
  type StoreOutcome,
} from './store-history.ts';
