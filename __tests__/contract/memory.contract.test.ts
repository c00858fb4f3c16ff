import { MemoryStore } from '../../src/stores/memory.ts';
import { describeContract } from './describe-contract.ts';

// Nothing outside of the process can write into its records.
describeContract('MemoryStore', ['list', 'overwriteSaved'], async (clock) => {
  const store = new MemoryStore({ now: clock.now });
  return { makeStore: async () => store, close: async () => {} };
});
