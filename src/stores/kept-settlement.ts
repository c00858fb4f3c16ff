import type { SettlementAudit } from '../core/settlement-audit.ts';

/** What a record keeps of its settlement, as text. */
export function settlementText({ kind, by, reason, forced }: SettlementAudit): string {
  return JSON.stringify({ kind, by, reason, force: forced });
}

/** The reverse: what a view of the record says of it. What cannot be read says nothing. */
export function keptSettlement(text: unknown): { readonly settlement?: SettlementAudit } {
  if (typeof text !== 'string' || text === '') return {};
  try {
    const { kind, by, reason, force } = JSON.parse(text);
    return { settlement: { kind, by: String(by), reason: String(reason), forced: force === true } };
  } catch {
    return {};
  }
}
