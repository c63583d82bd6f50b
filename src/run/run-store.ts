import { randomUUID } from 'node:crypto';
import type { Bus } from './bus.js';
import type { Attempt } from '../model/attempt.js';
import type { Escalation, Question } from '../model/escalation.js';
import type { DaySpent } from '../model/spent.js';
import { noEarlierTries } from '../model/earlier-runs.js';
import type {
  AttemptStart,
  CauseEnd,
  FixReversal,
  Store,
  KnownFailure,
  KnownFlake,
  Quarantine,
  RunEnd,
  FixToRemember,
  RememberedFix,
} from '../store/store.js';
import { reasonOf } from '../problem.js';

/** What one run stores for later runs, and knows from earlier ones; no method rejects (ME-9). */
export interface RunStore {
  started(): Promise<void>;
  recordFailure(signature: string): Promise<KnownFailure>;
  quarantines(): Promise<readonly Quarantine[]>;
  /** Returns what the runs of the last 24 hours have spent. */
  spentLastDay(): Promise<DaySpent>;
  flakeSeen(flake: Omit<KnownFlake, 'lastSeen'>): Promise<void>;
  /** Returns the id to pass to `attemptFinished`; null if it could not be written. */
  attemptStarted(start: Omit<AttemptStart, 'runId' | 'id'>): Promise<string | null>;
  attemptFinished(id: string | null, attempt: Attempt): Promise<void>;
  causeEnded(end: Omit<CauseEnd, 'runId'>): Promise<void>;
  fixReverted(end: Omit<FixReversal, 'runId'>): Promise<void>;
  rememberFix(fix: Omit<FixToRemember, 'runId'>): Promise<void>;
  rememberedFixes(signature: string): Promise<readonly RememberedFix[]>;
  refuseFix(id: string, signatures: readonly string[]): Promise<void>;
  /** Returns null if it could not be written, in which case the question is only in the report. */
  escalate(question: Question): Promise<Escalation | null>;
  /** Records the end of the run and closes the store. */
  ended(end: RunEnd): Promise<void>;
}

const nothingSpent: DaySpent = { agentRuns: 0, costUsd: 0 };

const nothingKnown: KnownFailure = {
  tries: noEarlierTries,
  tried: [],
  fix: null,
  guidance: null,
  decision: null,
  open: null,
};

/** The store of a run without one: nothing is known, and nothing is stored. */
export const noStore: RunStore = {
  started: async () => {},
  recordFailure: async () => nothingKnown,
  quarantines: async () => [],
  spentLastDay: async () => nothingSpent,
  flakeSeen: async () => {},
  attemptStarted: async () => null,
  attemptFinished: async () => {},
  causeEnded: async () => {},
  fixReverted: async () => {},
  rememberFix: async () => {},
  rememberedFixes: async () => [],
  refuseFix: async () => {},
  escalate: async () => null,
  ended: async () => {},
};

/**
 * Creates a run's store on top of the project's; `mask` removes secrets from what is stored (EV-9). If the store fails, the run warns once per
 * kind of failure and healing continues.
 */
export function createRunStore({
  store,
  runId,
  bus,
  mask,
}: {
  readonly store: Store;
  readonly runId: string;
  readonly bus: Bus;
  readonly mask: <T>(value: T) => T;
}): RunStore {
  const warned = new Set<string>();
  const trying = async <T>(action: string, call: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      const reason = reasonOf(error);
      const message = `The store failed while ${action}: ${reason}. Healing continues without it.`;
      if (!warned.has(message)) bus.emit({ type: 'run.warning', message });
      warned.add(message);
      return otherwise;
    }
  };
  const saving = (subject: string, call: () => Promise<void>) => trying(`saving ${subject}`, call, undefined);
  return {
    started: () => saving('the run', () => store.runStarted(runId)),
    recordFailure: (signature) =>
      trying('reading the history', () => store.recordFailure(signature, runId), nothingKnown),
    quarantines: () => trying('reading the quarantines', () => store.quarantines(), []),
    spentLastDay: () => trying('reading what was spent', () => store.spentLastDay(), nothingSpent),
    flakeSeen: (flake) => saving('a flaky test', () => store.flakeSeen(mask(flake))),
    attemptStarted: (start) => {
      const id = randomUUID();
      const started = () => store.attemptStarted({ id, runId, ...start }).then(() => id);
      return trying('saving an attempt', started, null);
    },
    attemptFinished: async (id, attempt) => {
      if (id !== null) await saving('an attempt', () => store.attemptFinished(id, mask(attempt)));
    },
    causeEnded: (end) => saving('a cause', () => store.causeEnded({ runId, ...mask(end) })),
    fixReverted: (end) => saving('a cause', () => store.fixReverted({ runId, ...mask(end) })),
    // Not masked: its bytes have to be exact, and callers check it for secrets first.
    rememberFix: (fix) => saving('a fix', () => store.rememberFix({ runId, ...fix })),
    rememberedFixes: (signature) => trying('reading the fixes', () => store.rememberedFixes(signature), []),
    refuseFix: (id, signatures) => saving('a fix', () => store.refuseFix(id, signatures)),
    escalate: (question) => trying('saving an escalation', () => store.escalate(mask(question), runId), null),
    ended: async (end) => {
      await saving('the run', () => store.runEnded(runId, end));
      await trying('closing', () => store.close(), undefined);
    },
  };
}
