/** Who ended a record, and why. Kept in the record where one stays. */
export interface SettlementNote {
  readonly reason: string;
  readonly by: string;
}

/** What is told of a settlement, by its record and by the event `settled`. */
export interface SettlementAudit extends SettlementNote {
  readonly kind: 'done' | 'never-started' | 'unknown';
  /** Whether it was to end the record although the owner's lease might hold. */
  readonly forced: boolean;
}
