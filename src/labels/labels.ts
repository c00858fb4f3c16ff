import type { Label } from './label.ts';
import type { CreateLabel } from './router.ts';

/** Where labels are made and kept. */
export interface Labels {
  /** Makes a label, in the transaction where there is one. Every call makes another one. */
  readonly create: CreateLabel;
  readonly find: (label_id: string) => Promise<Label | undefined>;
}
