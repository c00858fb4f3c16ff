import type { CrashCase, Fate, Mode, TransactionPoints } from './crash-case.ts';
import type { Naivety } from './naive-store.ts';

/** A rule that is left out, a case that shows it, and what is to be seen then. */
export interface PlantedFault {
  readonly title: string;
  readonly naivety: Naivety;
  readonly crash: CrashCase;
  readonly violation: string;
}

/** Faults that a check of effects and answers has to notice, or it shows nothing. */
export function plantedFaults(transactional: TransactionPoints | undefined): PlantedFault[] {
  return [
    fault('frees after the lease', 'unknown', 'stopped', 'handler', '2 effects'),
    fault('frees after the lease', 'unknown', 'killed', 'effect', '2 effects'),
    fault('looks without a seal', 'sealed', 'stopped', 'handler', '2 effects'),
    fault('completes for anybody', 'keyed', 'stopped', 'before complete', 'answers that differ'),
    ...(transactional === undefined
      ? []
      : [fault('completes for anybody', 'transactional', 'stopped', 'in admit', '2 effects')]),
  ];
}

function fault(
  naivety: Naivety,
  mode: Mode,
  fate: Extract<Fate, 'killed' | 'stopped'>,
  stopAt: string,
  violation: string,
): PlantedFault {
  const title = `${mode}: a replica that ${naivety} makes ${violation} when one is ${fate}`;
  const crash = { title, mode, fate, before: undefined, command: { stopAt } };
  return { title, naivety, crash, violation };
}
