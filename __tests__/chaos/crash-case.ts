/** A way of recovery; `unknown` is `blind({ onAbandoned: 'unknown' })`. */
export type Mode = 'blind' | 'unknown' | 'keyed' | 'sealed' | 'transactional';

/** What happens to a process: its end, a pause that outlasts its lease, or a lost reply. */
export type Fate = 'killed' | 'stopped' | 'told of a failure' | 'told nothing';

/** What a replica is to do with one request, besides serving it. */
export interface Command {
  /** Where it says so, and stops itself. */
  readonly stopAt?: string;
  /** Calls that are applied, and whose reply is lost: each of them once. */
  readonly lose?: readonly string[];
  /** Whether the lost reply is an error, or never comes. */
  readonly isRejected?: boolean;
  /** The handler leaves the key behind: before it has acted, or after. */
  readonly leave?: 'idle' | 'acted';
  /** How long the handler takes before it acts. */
  readonly lingerMs?: number;
  readonly isRefused?: boolean;
}

/** One key, and what becomes of the process that has it. */
export interface CrashCase {
  readonly title: string;
  readonly mode: Mode;
  readonly fate: Fate;
  /** How an attempt before it has left the key, so that this one takes it over. */
  readonly before: 'idle' | 'acted' | undefined;
  readonly command: Command;
  /** While it is stopped, it keeps a lock without which nobody can tell. */
  readonly isLocking?: boolean;
  /** The first that takes its key over is refused by `admit`. */
  readonly refusesFirst?: boolean;
}

/** The points between the claim and the first byte, in their order. */
const POINTS: { readonly [point: string]: string } = {
  'before claim': 'before its claim is sent',
  'after claim': 'with its claim applied and no reply seen',
  'before takeOver': 'before its takeover is sent',
  'after takeOver': 'with its takeover applied and no reply seen',
  recover: 'when it is to seal',
  sealed: 'when it has sealed and looked',
  'in admit': 'in admit',
  'after begin': 'with its transaction begun',
  handler: 'in its handler, which has done nothing',
  effect: 'in its handler, which has acted',
  'before complete': 'with an answer that is not saved',
  'after complete': 'with its answer saved and no reply seen',
  'before completeIn': 'with an answer that is not in its transaction',
  'after completeIn': 'with its answer saved and not committed',
  'after commit': 'with its transaction committed and no reply seen',
  'before first byte': 'with its first byte not written',
  'first byte': 'with its first byte written',
};

const CLAIMING = ['before claim', 'after claim', 'in admit'];
const WRITING = ['before first byte', 'first byte'];
const PLAIN = ['handler', 'effect', 'before complete', 'after complete'];
const TAKING = ['before takeOver', 'after takeOver'];

/** The modes whose handlers act on a provider, and their points. */
const ON_PROVIDER: readonly Mode[] = ['blind', 'unknown', 'keyed', 'sealed'];
const FIRST = [...CLAIMING, ...PLAIN, ...WRITING];
/** The points of those that take a key over. */
const SECOND: readonly (readonly [Mode, 'idle' | 'acted', readonly string[]])[] = [
  ['unknown', 'idle', [...TAKING, 'before complete', 'after complete']],
  ['keyed', 'acted', [...TAKING, 'in admit', 'handler', 'effect', 'before complete']],
  ['sealed', 'idle', [...TAKING, 'recover', 'sealed', 'in admit', 'handler', 'effect']],
  ['sealed', 'acted', ['recover', 'sealed', 'before complete', 'after complete']],
];

/** How a store has transactions. */
export interface TransactionPoints {
  /** The points of its own, between those of the claim and those of the first byte. */
  readonly points: readonly string[];
  /** Those at which a stopped process keeps others from telling. */
  readonly locking: readonly string[];
  /** Its own calls whose reply can be lost: those of one request each. */
  readonly losses: readonly (readonly string[])[];
  /** What such a call may end with; one that is synchronous cannot hang. */
  readonly lossFates: readonly Fate[];
}

/** Every point of every mode, killed and stopped. */
export function crashCases(transactional: TransactionPoints | undefined): CrashCase[] {
  const { points = [], locking = [] } = transactional ?? {};
  const first = ON_PROVIDER.flatMap((mode) =>
    FIRST.map((stopAt) => ({ mode, stopAt, before: undefined })),
  );
  const second = SECOND.flatMap(([mode, before, all]) =>
    all.map((stopAt) => ({ mode, stopAt, before })),
  );
  const own = points.length === 0 ? [] : [...CLAIMING, ...points, ...WRITING];
  const taking = points.length === 0 ? [] : [...TAKING, 'in admit', ...points];
  const mode = 'transactional' as const;
  const all = [
    ...first,
    ...second,
    ...own.map((stopAt) => ({ mode, stopAt, before: undefined })),
    ...taking.map((stopAt) => ({ mode, stopAt, before: 'idle' as const })),
  ];
  const refused = (['keyed', 'sealed', ...(points.length === 0 ? [] : [mode])] as const).map(
    (each): CrashCase => ({
      title: `${each}: a process stopped ${POINTS['handler']}, while a takeover is refused`,
      mode: each,
      fate: 'stopped',
      before: undefined,
      refusesFirst: true,
      command: { stopAt: 'handler' },
    }),
  );
  const crashes = all.flatMap(({ mode, stopAt, before }) =>
    (['killed', 'stopped'] as const).map((fate): CrashCase => {
      const isWriting = mode === 'transactional' && locking.includes(stopAt);
      const isLocking = fate === 'stopped' && isWriting;
      const title = `${subject(mode, before)} ${fate} ${POINTS[stopAt]}`;
      return { title, mode, fate, before, isLocking, command: { stopAt } };
    }),
  );
  return [...crashes, ...refused];
}

/** Whether the lost reply is an error, or never comes. */
export const LOST: readonly Fate[] = ['told of a failure', 'told nothing'];

type Loss = Pick<CrashCase, 'mode' | 'before'> & { readonly command: Command };

/** Every call of every mode, applied and not answered. */
export function lossCases(transactional: TransactionPoints | undefined): CrashCase[] {
  const all =
    transactional === undefined ? ON_PROVIDER : [...ON_PROVIDER, 'transactional' as const];
  const withLease = all.filter((mode) => mode !== 'blind');
  const before = undefined;
  const plain: Loss[] = [
    ...all.flatMap((mode): Loss[] => [
      { mode, before, command: { lose: ['claim'] } },
      { mode, before, command: { lose: ['release'], isRefused: true } },
    ]),
    ...withLease.map((mode): Loss => ({ mode, before: 'idle', command: { lose: ['takeOver'] } })),
    ...ON_PROVIDER.map((mode): Loss => ({ mode, before, command: { lose: ['complete'] } })),
    ...withLease
      .filter((mode) => mode !== 'transactional')
      .map((mode): Loss => ({ mode, before, command: { lose: ['renew'], lingerMs: 3_500 } })),
    { mode: 'unknown', before: 'idle', command: { lose: ['complete'] } },
    { mode: 'sealed', before: 'acted', command: { lose: ['complete'] } },
  ];
  const own = (transactional?.losses ?? []).flatMap((lose) =>
    (transactional?.lossFates ?? []).map((fate) =>
      lossCase({ mode: 'transactional', before, command: { lose } }, fate),
    ),
  );
  return [...plain.flatMap((loss) => LOST.map((fate) => lossCase(loss, fate))), ...own];
}

function lossCase({ mode, before, command }: Loss, fate: Fate): CrashCase {
  const isRejected = fate === 'told of a failure';
  const lost = `whose ${(command.lose ?? []).join(' and ')} is applied`;
  const title = `${subject(mode, before)} ${lost} and that is ${fate}`;
  return { title, mode, fate, before, command: { ...command, isRejected } };
}

function subject(mode: Mode, before: 'idle' | 'acted' | undefined): string {
  if (before === undefined) return `${mode}: a process`;
  const did = before === 'idle' ? 'did nothing' : 'acted';
  return `${mode}: a process that takes over from one that ${did},`;
}
