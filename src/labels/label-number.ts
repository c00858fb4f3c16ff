/** The number in the name of a label, or `undefined` when no label is named so. */
export function numberOf(label_id: string): number | undefined {
  const digits = LABEL_ID.exec(label_id)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The first label is label-901. */
export const FIRST_NUMBER = 901;

/** At most 15 digits, which a number holds exactly. */
const LABEL_ID = /^label-([1-9][0-9]{0,14})$/;
