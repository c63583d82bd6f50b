import type { DiagnosedFailure } from '../../src/model/cause.js';
import type { Event } from '../../src/event.js';
import { healRun } from '../../src/heal/heal-rounds.js';
import { Observations } from '../../src/heal/observations.js';
import { createReport } from '../../src/run/report.js';
import type { Diagnosis } from '../../src/model/diagnosis.js';
import type { HealResult } from '../../src/heal/progress.js';
import type { SuiteRun } from '../../src/playwright/suite-run.js';
import type { Session } from '../../src/heal/session.js';
import { announceTests } from '../../src/heal/announce-tests.js';
import { aDiagnosed, aResult, aSuiteFailure, aSuiteRun, failing, someSettings } from './builders.js';
import { healingSession, noChange, type SessionOver } from './healing-session.js';

/** Returns the result of a test in one run: null for green, `NOT_RUN`, or its error message. */
export type TestSimulation = (test: string, at: RunMoment) => string | null;

export const NOT_RUN = 'did not run';

/** The circumstances of one run of a test. */
export interface RunMoment {
  /** The ids of the changes in the working tree. */
  readonly fixes: ReadonlySet<string>;
  /** The number of the Playwright run, counted from 1. */
  readonly run: number;
  readonly purpose: string;
}

/** Settings that require the full proof. */
export const wholeProof = someSettings({
  verify: { ...someSettings().verify, repeat: 3, flips: 1, regression: 'suite' },
});

/**
 * Simulates a whole run: tests show what `shows` returns, and each agent makes one change, named `1`, `2` … in order. Errors with the same
 * text have the same cause. `builtOn` maps a change to the one that it needs. Agents whose change would have an id in `idle` change nothing.
 * With `inOneFile`, all tests run together. If `stops` returns true for a Playwright run, the suite does not start; if `teardown` returns an
 * error for the tests that ran, the suite itself fails after them.
 */
export async function simulatedRun(
  tests: readonly string[],
  shows: TestSimulation,
  over: SessionOver & {
    signalAfter?: number;
    builtOn?: Readonly<Record<string, string>>;
    idle?: readonly string[];
    inOneFile?: boolean;
    stops?: (at: RunMoment) => boolean;
    /** The changed files outside of git that may affect the tests. */
    leftovers?: readonly string[];
    /** The results in a clean copy; without it, no copy can be made. */
    needsCleanCopy?: TestSimulation;
    teardown?: (ran: readonly string[], at: RunMoment) => string | null;
    /** Overrides the diagnosis of every failure. */
    diagnosis?: Partial<Diagnosis>;
    /** Awaited before each use of the working tree and by each agent, to vary the schedule. */
    pause?: () => Promise<void>;
    /** True if the copies for agents do not exist yet. */
    needsCopies?: boolean;
    /** Runs after the first run instead of healing. */
    command?: (session: Session, first: SuiteRun) => Promise<HealResult>;
    /** Whether a change conflicts when it is applied. */
    conflicts?: (id: string) => boolean;
  } = {},
) {
  const runs: string[] = [];
  const fixes = new Set<string>();
  const stack: string[] = [];
  const decided: string[] = [];
  const controller = new AbortController();
  let red: DiagnosedFailure[] = [];
  const simulateSuiteRun = (ids: readonly string[] | null, purpose: string, simulate = shows) => {
    runs.push(`${purpose} ${(ids ?? tests).join(' ')}`);
    if (runs.length === over.signalAfter) controller.abort();
    const at = { fixes: new Set(fixes), run: runs.length, purpose };
    if (over.stops?.(at)) {
      const failure = aSuiteFailure();
      red = [aDiagnosed({ failure, signature: 'shop:Error:stopped' })];
      return aSuiteRun({ suiteFailure: failure });
    }
    const seen = (ids ?? tests).map((id) => ({ id, wrong: simulate(id, at) }));
    const isTraced = purpose === 'confirm' || purpose === 'retest';
    red = seen.flatMap(({ id, wrong }) =>
      wrong === null || wrong === NOT_RUN
        ? []
        : [failing(id, wrong, { signature: `shop:Error:${wrong}`, isTraced })].map((failure) => ({
            ...failure,
            diagnosis: { ...failure.diagnosis, ...over.diagnosis },
          })),
    );
    const teardownError = over.teardown?.(ids ?? tests, at) ?? null;
    const suiteFailure = teardownError === null ? null : aSuiteFailure(teardownError);
    if (suiteFailure) {
      const rerunIds = ids ?? tests;
      red.unshift(aDiagnosed({ failure: suiteFailure, signature: `shop:Error:${teardownError}`, rerunIds }));
    }
    return aSuiteRun({
      suiteFailure,
      tests: seen.map(({ id, wrong }) => ({
        ...aResult(id, wrong === null ? 'expected' : wrong === NOT_RUN ? 'not-run' : 'unexpected'),
        ...(over.inOneFile ? { firstTry: { worker: 0, startedAt: 0 } } : {}),
      })),
    });
  };
  // Only one task at a time may use the working tree.
  let inTree: string | null = null;
  const runAlone = async <T>(what: string, work: () => T): Promise<T> => {
    if (inTree !== null) throw new Error(`${what} during ${inTree}`);
    inTree = what;
    await over.pause?.();
    const made = work();
    inTree = null;
    return made;
  };
  const given = await healingSession([], {
    settings: wholeProof,
    signal: controller.signal,
    suite: { rerun: async ({ ids, purpose }) => runAlone(purpose, () => simulateSuiteRun(ids, purpose)) },
    diagnostics: { diagnose: async () => red },
  });
  const reapplyExcept = (out: readonly string[]) => {
    fixes.clear();
    const isLost = (id: string) => {
      const base = over.builtOn?.[id];
      return base !== undefined && !fixes.has(base);
    };
    for (const id of stack) if (!out.includes(id) && !isLost(id)) fixes.add(id);
    return { written: ['src/a.ts'], leftAlone: [] };
  };
  const listApplied = () => [...fixes];
  const session: Session = {
    ...given.session,
    observations: new Observations({ listApplied }),
    workspace: {
      ...given.session.workspace,
      collectChanges: async (id) => {
        if (over.idle?.includes(id)) return noChange;
        const { change } = await given.session.workspace.collectChanges(id);
        return { ...noChange, change };
      },
      apply: (change) =>
        runAlone('apply', () => {
          if (over.conflicts?.(change.id)) return { kind: 'conflict', files: ['src/a.ts'] };
          stack.push(change.id);
          fixes.add(change.id);
          return { kind: 'applied', change };
        }),
      revertTemporarily: (ids) => runAlone('without', () => reapplyExcept(ids)),
      revert: (ids) =>
        runAlone('revert', () => {
          const lost = stack.filter((id) => ids.includes(over.builtOn?.[id] ?? ''));
          for (const id of [...ids, ...lost]) stack.splice(stack.indexOf(id), 1);
          return { ...reapplyExcept([]), lost };
        }),
      listChangedOutsideGit: async () => [...(over.leftovers ?? [])],
      hasCopy: () => !over.needsCopies,
      listApplied,
      markDecided: async (ids) => void decided.push(...ids),
    },
    ...over,
    suite: {
      ...given.session.suite,
      ...(over.needsCleanCopy
        ? { runInCleanCopy: async ({ ids }) => simulateSuiteRun(ids, 'clean', over.needsCleanCopy) }
        : {}),
      ...over.suite,
    },
    diagnostics: given.session.diagnostics,
  };
  const first = simulateSuiteRun(null, 'first');
  announceTests(session, first);
  const record = await (over.command ?? healRun)(session, first);
  const report = createReport(session.bus.getRun());
  const verdicts = Object.fromEntries(report.tests.map(({ id, verdict }) => [id, verdict]));
  const causes = report.causes.map(({ id, verdict }) => `${id} ${verdict}`);
  const ends = session.bus.getRun().causes.flatMap(({ ended }) => ended ?? []);
  const warnings = given.events.flatMap((event: Event) =>
    event.type === 'run.warning' ? [event.message] : [],
  );
  return { ...given, record, report, runs, verdicts, causes, ends, warnings, fixes, decided };
}
