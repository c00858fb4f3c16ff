import {
  checkHistory,
  type StoreAnswer,
  type StoreCallNote,
  StoreHistory,
} from '../../src/testing/index.ts';

const RESPONSE = { kept: false, status: 201 } as const;
const OTHER = { kept: false, status: 200 } as const;

/** A history is written down as it would be seen; `check` says whether any store can do that. */
function setup() {
  const history = new StoreHistory();
  const begin = (method: StoreCallNote['method'], owner: string, more = {}) =>
    history.begin({ method, owner, key: 'k', fingerprint: 'f', ...more });
  const saw = (
    method: StoreCallNote['method'],
    owner: string,
    outcome: StoreAnswer['outcome'],
    more: Partial<StoreCallNote> = {},
  ) =>
    begin(method, owner, more)({ outcome, ...(more.response ? { response: more.response } : {}) });
  return { begin, saw, check: () => checkHistory(history.events) };
}

test('what a store that keeps the rules answers is accepted', () => {
  const { saw, check } = setup();
  saw('claim', 'A', 'new');
  saw('claim', 'A', 'new');
  saw('claim', 'B', 'pending');
  saw('claim', 'B', 'conflict', { fingerprint: 'other' });
  saw('complete', 'B', 'fenced', { response: OTHER });
  saw('release', 'B', 'resolved');
  saw('complete', 'A', 'resolved', { response: RESPONSE });
  saw('complete', 'A', 'resolved', { response: OTHER });
  saw('claim', 'B', 'replay', { response: RESPONSE });
  saw('release', 'A', 'resolved');
  saw('claim', 'C', 'replay', { response: RESPONSE });
  saw('claim', 'C', 'expired');
  saw('claim', 'C', 'conflict', { fingerprint: 'other' });
  expect(check).not.toThrow();
});

test('a release makes room for one more new', () => {
  const { saw, check } = setup();
  saw('claim', 'A', 'new');
  saw('release', 'A', 'resolved');
  saw('claim', 'B', 'new');
  expect(check).not.toThrow();
  saw('claim', 'C', 'new');
  expect(check).toThrow('contradict');
});

test('calls at the same time may have happened in any order', () => {
  const { begin, check } = setup();
  const claims = ['A', 'B', 'C'].map((owner) => begin('claim', owner));
  const outcomes = ['pending', 'new', 'pending'] as const;
  for (const [n, end] of claims.entries()) end({ outcome: outcomes[n] ?? 'nonsense' });
  expect(check).not.toThrow();
});

test('a rejected call may have been applied, or not, or later', () => {
  const { saw, check } = setup();
  saw('claim', 'A', 'rejected');
  saw('claim', 'B', 'new');
  saw('release', 'B', 'resolved');
  saw('claim', 'C', 'pending');
  saw('release', 'A', 'rejected');
  saw('claim', 'C', 'pending');
  saw('claim', 'C', 'new');
  expect(check).not.toThrow();
});

const CONTRADICTIONS: {
  readonly [what: string]: (saw: ReturnType<typeof setup>['saw']) => void;
} = {
  'two owners are told new': (saw) => {
    saw('claim', 'A', 'new');
    saw('claim', 'B', 'new');
  },
  'a key that nobody claimed is pending': (saw) => {
    saw('claim', 'A', 'pending');
  },
  'a completed key is new again': (saw) => {
    saw('claim', 'A', 'new');
    saw('complete', 'A', 'resolved', { response: RESPONSE });
    saw('claim', 'B', 'new');
  },
  'a completed key is pending again': (saw) => {
    saw('claim', 'A', 'new');
    saw('complete', 'A', 'resolved', { response: RESPONSE });
    saw('claim', 'B', 'pending');
  },
  'two replays differ': (saw) => {
    saw('claim', 'A', 'new');
    saw('complete', 'A', 'rejected', { response: RESPONSE });
    saw('complete', 'A', 'rejected', { response: OTHER });
    saw('claim', 'B', 'replay', { response: RESPONSE });
    saw('claim', 'B', 'replay', { response: OTHER });
  },
  'a replay is of what nobody saved': (saw) => {
    saw('claim', 'A', 'new');
    saw('complete', 'A', 'resolved', { response: RESPONSE });
    saw('claim', 'B', 'replay', { response: OTHER });
  },
  'another fingerprint is told the state': (saw) => {
    saw('claim', 'A', 'new');
    saw('claim', 'B', 'pending', { fingerprint: 'other' });
  },
  'a stranger completes': (saw) => {
    saw('claim', 'A', 'new');
    saw('complete', 'B', 'resolved', { response: OTHER });
  },
  'the owner is fenced while it holds the key': (saw) => {
    saw('claim', 'A', 'new');
    saw('complete', 'A', 'fenced', { response: RESPONSE });
  },
  'a stranger frees the key': (saw) => {
    saw('claim', 'A', 'new');
    saw('release', 'B', 'resolved');
    saw('claim', 'B', 'new');
  },
  'an expired key is replayed': (saw) => {
    saw('claim', 'A', 'new');
    saw('complete', 'A', 'resolved', { response: RESPONSE });
    saw('claim', 'B', 'expired');
    saw('claim', 'B', 'replay', { response: RESPONSE });
  },
};

test.each(Object.entries(CONTRADICTIONS))('a history is refused when %s', (_, write) => {
  const { saw, check } = setup();
  write(saw);
  expect(check).toThrow('contradict');
});
