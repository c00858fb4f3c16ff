export type { AdmitAnswer } from './core/admission.ts';
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
} from './core/events.ts';
export {
  type AbandonedOptions,
  type BlindOptions,
  type BlindRecovery,
  blind,
  type KeyedOptions,
  type KeyedRecovery,
  keyed,
  type LeaseOptions,
  type LeaseTerms,
  type Recovery,
  type SealedOptions,
  type SealedRecovery,
  sealed,
  type TransactionalOptions,
  type TransactionalRecovery,
  transactional,
} from './core/recovery.ts';
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
export {
  type Done,
  done,
  type NeverStarted,
  type ResponseWords,
  type Unknown,
  unknown,
} from './core/recovery-outcome.ts';
export type { RegisteredTransaction, RunningAttempt, Settled } from './core/running-attempt.ts';
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
export type { SettlementAudit } from './core/settlement-audit.ts';
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
  type CommitSyncCapability,
  type CompleteInCapability,
  type OpenTransaction,
  ROLLED_BACK,
  type TransactionAdapter,
  type TransactionDialect,
  type TransactionLimits,
} from './core/transaction.ts';
export { type DrainOptions, type DrainReport, drain } from './express/drain.ts';
export {
  type IdempotencyMiddleware,
  idempotencyMiddleware,
  idempotent,
} from './express/middleware.ts';
export { neverStarted } from './express/never-started.ts';
export type { IdempotencyOptions } from './express/options.ts';
export type {} from './express/request-augmentation.ts';
export { MemoryStore, type MemoryStoreOptions } from './stores/memory.ts';
