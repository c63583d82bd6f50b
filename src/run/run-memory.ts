import type { Bus } from './bus.js';
import type { Attempt } from '../core/attempt.js';
import type { Escalation, Question } from '../core/escalation.js';
import { noEarlierTries } from '../core/remembered.js';
import type { AttemptStart, CauseEnd, Ledger, Memory, Quarantine, RunEnd } from '../store/ledger.js';

/** What one run keeps for later ones, and knows from earlier ones; no method rejects (ME-9). */
export interface RunMemory {
  started(request: unknown, resumedFrom: string | null): Promise<void>;
  saveProgress(progress: unknown): Promise<void>;
  meet(signature: string): Promise<Memory>;
  quarantines(): Promise<readonly Quarantine[]>;
  /** Gives what `attemptFinished` asks for; null where it could not be written. */
  attemptStarted(start: Omit<AttemptStart, 'runId'>): Promise<string | null>;
  attemptFinished(id: string | null, attempt: Attempt): Promise<void>;
  causeEnded(end: Omit<CauseEnd, 'runId'>): Promise<void>;
  fixTakenBack(end: Omit<CauseEnd, 'runId'>): Promise<void>;
  /** Null where it could not be written: the question is in the report alone. */
  escalate(question: Question): Promise<Escalation | null>;
  /** Writes the end and closes the store. */
  ended(end: RunEnd): Promise<void>;
}

const nothingKnown: Memory = { tries: noEarlierTries, tried: [], fix: null, guidance: null, open: null };

/** The memory of a run that has none: nothing is known and nothing is kept. */
export const noMemory: RunMemory = {
  started: async () => {},
  saveProgress: async () => {},
  meet: async () => nothingKnown,
  quarantines: async () => [],
  attemptStarted: async () => null,
  attemptFinished: async () => {},
  causeEnded: async () => {},
  fixTakenBack: async () => {},
  escalate: async () => null,
  ended: async () => {},
};

/** What the memory of a run is made of. */
export interface MemoryParts {
  readonly ledger: Ledger;
  readonly runId: string;
  readonly bus: Bus;
  /** Masks the secrets in what is kept (EV-9); a `Redactor`'s `deep`. */
  readonly mask: <T>(value: T) => T;
}

/** The memory of a run over a ledger. A store that fails is told of, once for each kind of failure, and healing goes on. */
export function createRunMemory({ ledger, runId, bus, mask }: MemoryParts): RunMemory {
  const told = new Set<string>();
  const trying = async <T>(what: string, call: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `The store failed (${what}): ${reason}. Healing goes on without it.`;
      if (!told.has(message)) bus.emit({ type: 'run.warning', message });
      told.add(message);
      return otherwise;
    }
  };
  return {
    started: (request, resumedFrom) =>
      trying(
        'keeping the run',
        () => ledger.runStarted({ runId, request: mask(request), resumedFrom }),
        undefined,
      ),
    saveProgress: (progress) =>
      trying('keeping the run', () => ledger.saveProgress(runId, mask(progress)), undefined),
    meet: (signature) => trying('looking back', () => ledger.meet(signature, runId), nothingKnown),
    quarantines: () => trying('looking for quarantines', () => ledger.quarantines(), []),
    attemptStarted: (start) =>
      trying('keeping a try', () => ledger.attemptStarted({ runId, ...start }), null),
    attemptFinished: async (id, attempt) =>
      id === null
        ? undefined
        : trying('keeping a try', () => ledger.attemptFinished(id, mask(attempt)), undefined),
    causeEnded: (end) =>
      trying('keeping a cause', () => ledger.causeEnded({ runId, ...mask(end) }), undefined),
    fixTakenBack: (end) =>
      trying('keeping a cause', () => ledger.fixTakenBack({ runId, ...mask(end) }), undefined),
    escalate: (question) => trying('asking a person', () => ledger.escalate(mask(question), runId), null),
    ended: async (end) => {
      await trying('keeping the run', () => ledger.runEnded(runId, end), undefined);
      await trying('closing', () => ledger.close(), undefined);
    },
  };
}
