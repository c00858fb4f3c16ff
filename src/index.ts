export type { AdmitAnswer } from './core/attempt.ts';
export {
  ERROR_CODES,
  type ErrorCode,
  FencedError,
  IdempotencyError,
  RecordTooLargeError,
} from './core/errors.ts';
export {
  EVENTS,
  type EventName,
  type IdempotencyEvent,
  type SettlementAudit,
} from './core/events.ts';
export type {
  RenewCapability,
  SettleAnswer,
  SettleCapability,
  Settlement,
  SettlementNote,
  TakeOver,
  TakeOverCapability,
  TakeOverOptions,
} from './core/recovery-capabilities.ts';
export type {
  HeaderLine,
  KeptResponse,
  SavedResponse,
  UnkeptResponse,
} from './core/saved-response.ts';
export {
  copySavedResponse,
  decodeSavedResponse,
  encodeSavedResponse,
} from './core/saved-response.ts';
export type {
  Attempt,
  Claim,
  IdempotencyStore,
  InspectCapability,
  ListCapability,
  ListedRecord,
  ListOptions,
  PruneCapability,
  RecordState,
  RecordView,
  StoreCall,
} from './core/store.ts';
export {
  type IdempotencyMiddleware,
  idempotencyMiddleware,
  idempotent,
} from './express/middleware.ts';
export type { IdempotencyOptions } from './express/options.ts';
export type {} from './express/request-augmentation.ts';
export { MemoryStore, type MemoryStoreOptions } from './stores/memory.ts';
