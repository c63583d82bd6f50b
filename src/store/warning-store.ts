import { noEarlierTries } from '../model/earlier-runs.js';
import { reasonOf } from '../problem.js';
import type { Store } from './store.js';

interface Fallback<Result> {
  /** What the store was doing, for the warning. */
  readonly doing: string;
  /** What a failing call returns. */
  readonly result: Result;
  /** Whether its arguments have texts in which secrets are masked. Fixes have to be exact, and callers check them first. */
  readonly hasTexts?: boolean;
}

const fallbacks: { readonly [Name in keyof Store]: Fallback<Awaited<ReturnType<Store[Name]>>> } = {
  recordFailure: {
    doing: 'reading the history',
    result: { tries: noEarlierTries, tried: [], fix: null, guidance: null, decision: null, open: null },
  },
  attemptStarted: { doing: 'saving an attempt', result: undefined },
  attemptFinished: { doing: 'saving an attempt', result: undefined, hasTexts: true },
  healedByOtherFix: { doing: 'saving a cause', result: undefined },
  fixReverted: { doing: 'saving a cause', result: undefined, hasTexts: true },
  escalate: { doing: 'saving an escalation', result: null, hasTexts: true },
  escalations: { doing: 'reading the escalations', result: [] },
  resolve: { doing: 'saving an answer', result: null, hasTexts: true },
  closeEscalation: { doing: 'closing an escalation', result: undefined, hasTexts: true },
  quarantines: { doing: 'reading the quarantines', result: [] },
  release: { doing: 'saving a quarantine', result: undefined },
  runUndone: { doing: 'saving an undo', result: undefined },
  flakeSeen: { doing: 'saving a flaky test', result: undefined, hasTexts: true },
  flakes: { doing: 'reading the flaky tests', result: [] },
  rememberFix: { doing: 'saving a fix', result: null },
  rememberedFixes: { doing: 'reading the fixes', result: [] },
  refuseFix: { doing: 'saving a fix', result: undefined },
  spentLastDay: { doing: 'reading the costs', result: { agentRuns: 0, costUsd: 0 } },
  close: { doing: 'closing', result: undefined },
};

type Call = (...args: unknown[]) => Promise<unknown>;

/**
 * Returns the store for a run: `mask` removes secrets from the texts that it stores (EV-9), and no method rejects. A failure is a warning, once for
 * each kind, and healing continues (ME-9).
 */
export function warningStore(
  store: Store,
  { mask, warn }: { readonly mask: <T>(value: T) => T; readonly warn: (message: string) => void },
): Store {
  const warned = new Set<string>();
  return eachMethod((name, { doing, result, hasTexts = false }) => async (...args) => {
    try {
      return await (store[name] as Call)(...(hasTexts ? args.map(mask) : args));
    } catch (error) {
      const message = `The store failed while ${doing}: ${reasonOf(error)}. Healing continues without it.`;
      if (!warned.has(message)) warn(message);
      warned.add(message);
      return result;
    }
  });
}

/** The store of a run without one: nothing is known, and nothing is stored. */
export const noStore: Store = eachMethod(
  (_, { result }) =>
    async () =>
      result,
);

function eachMethod(method: (name: keyof Store, fallback: Fallback<unknown>) => Call): Store {
  const names = Object.keys(fallbacks) as (keyof Store)[];
  return Object.fromEntries(names.map((name) => [name, method(name, fallbacks[name])])) as unknown as Store;
}
