import { noEarlierTries } from '../model/earlier-runs.js';
import { describeError } from '../problem.js';
import type { Store } from './store.js';

interface Fallback<Result> {
  /** The operation of the store, for the warning. */
  readonly activity: string;
  /** The result of a failing call. */
  readonly result: Result;
  /** True if secrets in its arguments must be masked. Fixes must stay exact, so their callers refuse secrets instead. */
  readonly hasTexts?: boolean;
}

const fallbacks: { readonly [Name in keyof Store]: Fallback<Awaited<ReturnType<Store[Name]>>> } = {
  recordFailure: {
    activity: 'reading the history',
    result: {
      tries: noEarlierTries,
      failedAttempts: [],
      fix: null,
      guidance: null,
      decision: null,
      openEscalation: null,
    },
  },
  startAttempt: { activity: 'saving an attempt', result: undefined },
  finishAttempt: { activity: 'saving an attempt', result: undefined, hasTexts: true },
  recordHealByOtherFix: { activity: 'saving a cause', result: undefined },
  recordRevert: { activity: 'saving a cause', result: undefined, hasTexts: true },
  escalate: { activity: 'saving an escalation', result: null, hasTexts: true },
  listEscalations: { activity: 'reading the escalations', result: [] },
  answerEscalation: { activity: 'saving an answer', result: null, hasTexts: true },
  closeEscalation: { activity: 'closing an escalation', result: undefined, hasTexts: true },
  listQuarantines: { activity: 'reading the quarantines', result: [] },
  releaseTests: { activity: 'saving a quarantine', result: undefined },
  recordUndo: { activity: 'saving an undo', result: undefined },
  recordFlake: { activity: 'saving a flaky test', result: undefined, hasTexts: true },
  listFlakes: { activity: 'reading the flaky tests', result: [] },
  rememberFix: { activity: 'saving a fix', result: null },
  listRememberedFixes: { activity: 'reading the fixes', result: [] },
  refuseFix: { activity: 'saving a fix', result: undefined },
  sumLastDay: { activity: 'reading the costs', result: { agentRuns: 0, costUsd: 0 } },
  close: { activity: 'closing', result: undefined },
};

type Call = (...args: unknown[]) => Promise<unknown>;

/**
 * Returns the store for a run: `mask` removes secrets from the texts that it stores (EV-9), and no method rejects. Warns once about each kind of
 * failure; healing continues (ME-9).
 */
export function createWarningStore(
  store: Store,
  { mask, warn }: { readonly mask: <T>(value: T) => T; readonly warn: (message: string) => void },
): Store {
  const warned = new Set<string>();
  return mapMethods((name, { activity, result, hasTexts = false }) => async (...args) => {
    try {
      return await (store[name] as Call)(...(hasTexts ? args.map(mask) : args));
    } catch (error) {
      const message = `The store failed while ${activity}: ${describeError(error)}. Healing continues without it.`;
      if (!warned.has(message)) warn(message);
      warned.add(message);
      return result;
    }
  });
}

/** The store of a run without a store: returns no data and stores nothing. */
export const noStore: Store = mapMethods(
  (_, { result }) =>
    async () =>
      result,
);

function mapMethods(method: (name: keyof Store, fallback: Fallback<unknown>) => Call): Store {
  const names = Object.keys(fallbacks) as (keyof Store)[];
  return Object.fromEntries(names.map((name) => [name, method(name, fallbacks[name])])) as unknown as Store;
}
