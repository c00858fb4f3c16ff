/** A label: made once for an operation, and never changed. */
export interface Label {
  readonly label_id: string;
  readonly request_id: string;
  readonly parcel_id: string;
}

/** The two ETag values of a label, each a header line of its own. */
export function entityTagsOf({ label_id }: Label): string[] {
  return [`"${label_id}-v1"`, '"backup"'];
}
