import { randomUUID } from 'node:crypto';
import type { Bus } from './bus.js';
import type { Attempt } from '../core/attempt.js';
import type { Escalation, Question } from '../core/escalation.js';
import { noEarlierTries } from '../core/remembered.js';
import type {
  AttemptStart,
  CauseEnd,
  FixReverted,
  Store,
  KnownFailure,
  Quarantine,
  RunEnd,
} from '../store/store.js';
import { reasonOf } from '../reason-of.js';

/** What one run keeps for later ones, and knows from earlier ones; no method rejects (ME-9). */
export interface RunStore {
  started(request: unknown, resumedFrom: string | null): Promise<void>;
  saveProgress(progress: unknown): Promise<void>;
  recordFailure(signature: string): Promise<KnownFailure>;
  quarantines(): Promise<readonly Quarantine[]>;
  /** Gives what `attemptFinished` asks for; null where it could not be written. */
  attemptStarted(start: Omit<AttemptStart, 'runId' | 'id'>): Promise<string | null>;
  attemptFinished(id: string | null, attempt: Attempt): Promise<void>;
  causeEnded(end: Omit<CauseEnd, 'runId'>): Promise<void>;
  fixReverted(end: Omit<FixReverted, 'runId'>): Promise<void>;
  /** Null where it could not be written: the question is in the report alone. */
  escalate(question: Question): Promise<Escalation | null>;
  /** Writes the end and closes the store. */
  ended(end: RunEnd): Promise<void>;
}

const nothingKnown: KnownFailure = {
  tries: noEarlierTries,
  tried: [],
  fix: null,
  guidance: null,
  open: null,
};

/** The store of a run that has none: nothing is known and nothing is kept. */
export const noStore: RunStore = {
  started: async () => {},
  saveProgress: async () => {},
  recordFailure: async () => nothingKnown,
  quarantines: async () => [],
  attemptStarted: async () => null,
  attemptFinished: async () => {},
  causeEnded: async () => {},
  fixReverted: async () => {},
  escalate: async () => null,
  ended: async () => {},
};

/** What the store of a run is made of. */
export interface RunStoreParts {
  readonly store: Store;
  readonly runId: string;
  readonly bus: Bus;
  /** Masks the secrets in what is kept (EV-9); a `Redactor`'s `deep`. */
  readonly mask: <T>(value: T) => T;
}

/** The store of a run over a project’s store. A store that fails is told of, once for each kind of failure, and healing goes on. */
export function createRunStore({ store, runId, bus, mask }: RunStoreParts): RunStore {
  const told = new Set<string>();
  const trying = async <T>(what: string, call: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      const reason = reasonOf(error);
      const message = `The store failed (${what}): ${reason}. Healing continues without it.`;
      if (!told.has(message)) bus.emit({ type: 'run.warning', message });
      told.add(message);
      return otherwise;
    }
  };
  return {
    started: (request, resumedFrom) =>
      trying(
        'storing the run',
        () => store.runStarted({ runId, request: mask(request), resumedFrom }),
        undefined,
      ),
    saveProgress: (progress) =>
      trying('storing the run', () => store.saveProgress(runId, mask(progress)), undefined),
    recordFailure: (signature) =>
      trying('looking back', () => store.recordFailure(signature, runId), nothingKnown),
    quarantines: () => trying('looking for quarantines', () => store.quarantines(), []),
    attemptStarted: (start) => {
      const id = randomUUID();
      return trying(
        'keeping a try',
        () => store.attemptStarted({ id, runId, ...start }).then(() => id),
        null,
      );
    },
    attemptFinished: async (id, attempt) =>
      id === null
        ? undefined
        : trying('keeping a try', () => store.attemptFinished(id, mask(attempt)), undefined),
    causeEnded: (end) =>
      trying('keeping a cause', () => store.causeEnded({ runId, ...mask(end) }), undefined),
    fixReverted: (end) =>
      trying('keeping a cause', () => store.fixReverted({ runId, ...mask(end) }), undefined),
    escalate: (question) => trying('asking a person', () => store.escalate(mask(question), runId), null),
    ended: async (end) => {
      await trying('storing the run', () => store.runEnded(runId, end), undefined);
      await trying('closing', () => store.close(), undefined);
    },
  };
}
