import type { Carrier } from './carrier-client.ts';
import type { Labels } from './labels.ts';

/** Labels of a carrier that makes one for one key, however often it is asked. */
export function keyedLabels(carrier: Carrier): Labels {
  return {
    create: (operation, context) =>
      carrier.ship(operation, { key: context.downstreamKey('carrier') }),
    find: (label_id) => carrier.find(label_id),
  };
}

/** Labels of a carrier that makes one each time it is asked, but none for a sealed attempt. */
export function sealedLabels(carrier: Carrier): Labels {
  return {
    create: (operation, { recordKey, attempt }) =>
      carrier.ship(operation, { reference: recordKey, attempt }),
    find: (label_id) => carrier.find(label_id),
  };
}
