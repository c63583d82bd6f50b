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

/** What one run shows for one test: null for green, `notRun`, or its error message. */
export type Shows = (test: string, at: At) => string | null;

export const listNotRun = 'did not run';

/** When a test runs. */
export interface At {
  /** The changes in the tree. */
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
 * text have the same cause. `findDependents` names the change without which another one cannot be in the tree. The agents
 * whose change would have a name in `idle` change nothing. Tests `inOneFile` are all run with each of them. If `stops` returns true for a Playwright run, the suite does not start; if `teardown` returns an error for the
 * tests that ran, the suite itself fails after them.
 */
export async function simulatedRun(
  tests: readonly string[],
  shows: Shows,
  over: SessionOver & {
    signalAfter?: number;
    builtOn?: Readonly<Record<string, string>>;
    idle?: readonly string[];
    inOneFile?: boolean;
    stops?: (at: At) => boolean;
    /** The files outside of git that have changed since the work began, as far as tests tell. */
    leftovers?: readonly string[];
    /** What a clean copy shows; without it, none can be made. */
    inCleanCopy?: Shows;
    teardown?: (ran: readonly string[], at: At) => string | null;
    /** What every failure is diagnosed as. */
    diagnosis?: Partial<Diagnosis>;
    /** Awaited by whatever runs in the tree or writes to it, and by each agent: so one schedule differs from another. */
    pause?: () => Promise<void>;
    /** Whether the copies for agents have still to be made. */
    needsCopies?: boolean;
    /** What is done after the first run, in place of healing it. */
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
  const play = (ids: readonly string[] | null, purpose: string, shownNow = shows) => {
    runs.push(`${purpose} ${(ids ?? tests).join(' ')}`);
    if (runs.length === over.signalAfter) controller.abort();
    const at = { fixes: new Set(fixes), run: runs.length, purpose };
    if (over.stops?.(at)) {
      const failure = aSuiteFailure();
      red = [aDiagnosed({ failure, signature: 'shop:Error:stopped' })];
      return aSuiteRun({ suiteFailure: failure });
    }
    const seen = (ids ?? tests).map((id) => ({ id, wrong: shownNow(id, at) }));
    const isTraced = purpose === 'confirm' || purpose === 'retest';
    red = seen.flatMap(({ id, wrong }) =>
      wrong === null || wrong === listNotRun
        ? []
        : [failing(id, wrong, { signature: `shop:Error:${wrong}`, isTraced })].map((failure) => ({
            ...failure,
            diagnosis: { ...failure.diagnosis, ...over.diagnosis },
          })),
    );
    const torn = over.teardown?.(ids ?? tests, at) ?? null;
    const suiteFailure = torn === null ? null : aSuiteFailure(torn);
    if (suiteFailure) {
      const rerunIds = ids ?? tests;
      red.unshift(aDiagnosed({ failure: suiteFailure, signature: `shop:Error:${torn}`, rerunIds }));
    }
    return aSuiteRun({
      suiteFailure,
      tests: seen.map(({ id, wrong }) => ({
        ...aResult(id, wrong === null ? 'expected' : wrong === listNotRun ? 'not-run' : 'unexpected'),
        ...(over.inOneFile ? { firstTry: { worker: 0, startedAt: 0 } } : {}),
      })),
    });
  };
  // Whoever has the tree has it alone.
  let inTree: string | null = null;
  const alone = async <T>(what: string, work: () => T): Promise<T> => {
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
    suite: { rerun: async ({ ids, purpose }) => alone(purpose, () => play(ids, purpose)) },
    diagnostics: { diagnose: async () => red },
  });
  const bring = (out: readonly string[]) => {
    fixes.clear();
    const isLost = (id: string) => {
      const base = over.builtOn?.[id];
      return base !== undefined && !fixes.has(base);
    };
    for (const id of stack) if (!out.includes(id) && !isLost(id)) fixes.add(id);
    return { written: ['src/a.ts'], leftAlone: [] };
  };
  const applied = () => [...fixes];
  const session: Session = {
    ...given.session,
    observations: new Observations({ listApplied: applied }),
    workspace: {
      ...given.session.workspace,
      collectChanges: async (id) => {
        if (over.idle?.includes(id)) return noChange;
        const { change } = await given.session.workspace.collectChanges(id);
        return { ...noChange, change };
      },
      apply: (change) =>
        alone('apply', () => {
          if (over.conflicts?.(change.id)) return { kind: 'conflict', files: ['src/a.ts'] };
          stack.push(change.id);
          fixes.add(change.id);
          return { kind: 'applied', change };
        }),
      revertTemporarily: (ids) => alone('without', () => bring(ids)),
      revert: (ids) =>
        alone('revert', () => {
          const lost = stack.filter((id) => ids.includes(over.builtOn?.[id] ?? ''));
          for (const id of [...ids, ...lost]) stack.splice(stack.indexOf(id), 1);
          return { ...bring([]), lost };
        }),
      listChangedOutsideGit: async () => [...(over.leftovers ?? [])],
      hasCopy: () => !over.needsCopies,
      listApplied: applied,
      markDecided: async (ids) => void decided.push(...ids),
    },
    ...over,
    suite: {
      ...given.session.suite,
      ...(over.inCleanCopy
        ? { runInCleanCopy: async ({ ids }) => play(ids, 'clean', over.inCleanCopy) }
        : {}),
      ...over.suite,
    },
    diagnostics: given.session.diagnostics,
  };
  const first = play(null, 'first');
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
