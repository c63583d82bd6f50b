import { chooseNeighbours, chooseShown, groupAlike } from '../core/alike.js';
import type { DiagnosedFailure } from '../core/cause.js';
import { failureKey } from '../core/failure.js';
import { groupCauses } from '../core/group.js';
import { isGreen } from '../core/judge.js';
import { recordFailure } from './diagnose.js';
import type { Progress } from './progress.js';
import { retest } from './retest.js';

/** What re-running the red tests unchanged showed. */
export interface Confirmation {
  /** Red again, or alike to one that was: worth an agent. */
  readonly confirmed: readonly DiagnosedFailure[];
  /** Green without any change: flaky (HL-7). */
  readonly flaky: readonly DiagnosedFailure[];
  /** Failures that the re-run revealed in addition to those it was made for. */
  readonly uncovered: readonly DiagnosedFailure[];
  /** The suite's own failure if it could not run at all this time, so that nothing was confirmed. */
  readonly blockedBy: DiagnosedFailure | null;
}

/**
 * Re-runs failing tests unchanged, `verify.confirm` times, before any agent is paid for them (HL-7), and records the traces that are their
 * evidence. Of tests that failed alike three are run again; the others join the cause that these turn out to have, or are run again, too,
 * if they have none or several. Tests that runs of the same tree have already shown to be red are not run again.
 */
export async function confirm(
  progress: Progress,
  failures: readonly DiagnosedFailure[],
): Promise<Confirmation> {
  const known = failures.filter((one) => isConfirmed(progress, one));
  const alike = groupAlike(failures.filter((one) => !known.includes(one)));
  const shown = new Set(alike.flatMap(chooseShown));
  const first = await runAgain(progress, [...shown]);
  if (first.blockedBy) return { ...first, confirmed: [] };
  const joined: DiagnosedFailure[] = [];
  const left: DiagnosedFailure[] = [];
  for (const group of alike) {
    const others = group.filter((one) => !shown.has(one));
    const keys = new Set(group.map(({ failure }) => failureKey(failure)));
    const causes = groupCauses(first.confirmed.filter(({ failure }) => keys.has(failureKey(failure))));
    const [cause, ...more] = causes;
    if (cause && more.length === 0) joined.push(...others.map((one) => joining(one, cause.lead)));
    else left.push(...others);
  }
  for (const one of joined) await recordFailure(progress.session, one);
  const second = await runAgain(progress, left);
  return {
    confirmed: [...known, ...first.confirmed, ...joined, ...second.confirmed],
    flaky: [...first.flaky, ...second.flaky],
    uncovered: [...first.uncovered, ...second.uncovered],
    blockedBy: second.blockedBy,
  };
}

/** Runs failing tests again, with green ones of their files the first time, so that it shows what happens in these, too. */
async function runAgain(progress: Progress, failures: readonly DiagnosedFailure[]): Promise<Confirmation> {
  const { session } = progress;
  let confirmed = [...failures];
  const flaky: DiagnosedFailure[] = [];
  const uncovered: DiagnosedFailure[] = [];
  for (let time = 0; time < session.settings.verify.confirm && confirmed.length > 0; time += 1) {
    const isAboutSuite = confirmed.some(({ failure }) => failure.scope === 'suite');
    const neighbours = time === 0 ? chooseNeighbours(confirmed, progress.green) : [];
    const ids = [...new Set([...confirmed.flatMap(({ rerunIds }) => rerunIds), ...neighbours])];
    const request = { failures: confirmed, purpose: 'confirm', causeId: null } as const;
    const seen = await retest(session, isAboutSuite ? request : { ...request, ids });
    if (seen.suiteFailure && !isAboutSuite && (seen.run?.tests.length ?? 0) === 0)
      return { confirmed: [], flaky, uncovered, blockedBy: seen.suiteFailure };
    const ends = confirmed.map((before) => ({ before, now: seen.observe(before) }));
    flaky.push(...ends.filter(({ now }) => isGreen(now)).map(({ before }) => before));
    uncovered.push(...seen.others);
    confirmed = ends
      .filter(({ now }) => !isGreen(now))
      .map(({ before, now }) => combined(before, now.failure ?? now.suiteFailure));
    for (const one of confirmed) if (one.evidence.otherRun) await recordFailure(session, one);
  }
  return { confirmed, flaky, uncovered, blockedBy: null };
}

/** Whether a failure has been red often enough, the last time in the current tree, and all of its evidence is there. */
function isConfirmed({ session }: Progress, failure: DiagnosedFailure): boolean {
  if (!failure.isTraced && failure.failure.scope === 'test') return false;
  return session.observations.timesRed(failure) > Math.max(1, session.settings.verify.confirm);
}

/**
 * Combines the two runs of a failure: the confirming run has the trace and decides, unless nothing in it says what kind of failure it is. If
 * the runs failed of something else, each is told.
 */
function combined(before: DiagnosedFailure, again: DiagnosedFailure | null): DiagnosedFailure {
  if (again === null) return before;
  const isSame = before.signature === again.signature;
  const decides = again.diagnosis.category !== 'unknown' || before.diagnosis.category === 'unknown';
  const [decided, other] = decides ? [again, before] : [before, again];
  const { rerunIds } = before;
  if (isSame) return { ...decided, rerunIds };
  const otherRun = { run: decides ? 'first' : 'confirming', errors: other.evidence.errors } as const;
  return { ...decided, rerunIds, evidence: { ...decided.evidence, otherRun } };
}

/** Returns a failure that was not run again as one of the cause of another that was. */
function joining(failure: DiagnosedFailure, lead: DiagnosedFailure): DiagnosedFailure {
  const test = lead.failure.scope === 'test' ? lead.failure.test.titlePath.join(' › ') : 'the suite';
  const missing = `what only a trace shows: not run again, since it failed like ${test}, which was`;
  const { diagnosis, n: like } = lead;
  return {
    ...failure,
    diagnosis,
    like,
    evidence: { ...failure.evidence, missing: [...failure.evidence.missing, missing] },
  };
}
