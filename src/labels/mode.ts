import {
  blind,
  done,
  keyed,
  neverStarted,
  type Recovery,
  sealed,
  type TransactionalOptions,
} from '../index.ts';
import type { Backend } from './backend.ts';
import { Carrier } from './carrier-client.ts';
import { keyedLabels, sealedLabels } from './carrier-labels.ts';
import { labelCreated } from './label-response.ts';
import type { Labels } from './labels.ts';
import type { ModeSettings } from './service-settings.ts';

/** What makes labels, and what may become of a key that a crash has left. */
export interface Mode {
  readonly labels: Labels;
  readonly recovery: Recovery;
}

/** One choice of `MODE`, on what the choice of `STORE` has brought. */
export function modeOf(settings: ModeSettings, backend: Backend): Mode {
  switch (settings.kind) {
    case 'blind':
      return { labels: backend.labels, recovery: blind() };
    case 'transactional': {
      const recovery = backend.transactional(transactionTerms(settings.leaseMs));
      return { labels: backend.labels, recovery };
    }
    case 'keyed': {
      const { leaseMs, carrierUrl } = settings;
      const labels = keyedLabels(new Carrier(carrierUrl));
      return { labels, recovery: keyed({ rerunWithinMs: RERUN_WITHIN_MS, leaseMs }) };
    }
    case 'sealed': {
      const carrier = new Carrier(settings.carrierUrl);
      return { labels: sealedLabels(carrier), recovery: sealedBy(carrier, settings.leaseMs) };
    }
    default:
      return settings satisfies never;
  }
}

/** The carrier keeps keys for 24 hours; a handler takes far less than the rest. */
const RERUN_WITHIN_MS = 20 * 3_600_000;

/** A transaction that is stuck has ended long before its lease, however short that is. */
function transactionTerms(leaseMs: number): TransactionalOptions {
  const atMost = (ms: number) => Math.min(ms, Math.floor(leaseMs / 2));
  return {
    leaseMs,
    limits: {
      statementTimeoutMs: atMost(10_000),
      lockTimeoutMs: atMost(5_000),
      idleTimeoutMs: atMost(10_000),
    },
  };
}

/** Seals all earlier attempts first: only then it is certain that what is not there will not be. */
function sealedBy(carrier: Carrier, leaseMs: number): Recovery {
  return sealed({
    leaseMs,
    async recover({ recordKey, attempt }) {
      const label = await carrier.seal(recordKey, attempt - 1);
      return label === undefined ? neverStarted() : done(labelCreated(label));
    },
  });
}
