export { type RecordKeyParts, recordReference } from '../core/record-key.ts';
export type { SettleAnswer, Settlement, SettlementNote } from '../core/recovery-capabilities.ts';
export {
  type Done,
  done,
  type NeverStarted,
  neverStarted,
  type ResponseWords,
  type Unknown,
  unknown,
} from '../core/recovery-outcome.ts';
export type { ListedRecord, RecordView } from '../core/store.ts';
export { type PruneOptions, prune } from './pruning.ts';
export { type ListRecordsOptions, listRecords } from './record-list.ts';
export type { RecordName, RecordParts, RecordReference } from './record-name.ts';
export { type SettleOptions, settle } from './settling.ts';
export { type ShownRecord, showRecord } from './shown-record.ts';
