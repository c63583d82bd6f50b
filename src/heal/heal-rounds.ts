import { visibleText } from '../visible-text.js';
import { getEndReason } from '../model/attempt.js';
import type { BlameSearches } from './hooks.js';
import { confirm } from './confirm.js';
import type { Cause, DiagnosedFailure } from '../model/cause.js';
import { failureKey, formatTitles, listTests } from '../model/failure.js';
import { groupIntoCauses } from '../diagnose/group.js';
import type { CauseWork } from './cause-work.js';
import { countParallelAgents, repeatHealing, healCauses } from './heal-causes.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { observeRun } from './observations.js';
import {
  endCause,
  mayStartMoreWork,
  type HealResult,
  isPausedNow,
  isSuiteRed,
  isUnproven,
  collectKeys,
  createProgress,
  type Progress,
  announceCause,
  getCurrentVerdict,
} from './progress.js';
import { joinCauses } from './join-causes.js';
import { proveFixes } from './prove.js';
import { mayReviewFixes } from './review/review-fixes.js';
import { storedSignature } from './stored-signature.js';
import { retest } from './retest.js';
import { revertDeadEnds } from './revert-fixes.js';
import { announceVerdicts } from './announce-tests.js';
import type { Session } from './session.js';
import { recordFlakes, listFailuresWithoutCause, recheckFailedCauses } from './apply-result.js';

/**
 * Heals the failures of the first run in rounds. A fix that lets the suite start, or a test get past its first error, reveals new failures, which get
 * their own causes, agents and budgets in the next round (HL-3).
 */
export async function healRun(session: Session, first: SuiteRun): Promise<HealResult> {
  const progress = createProgress(session, first);
  const failures = [...(await diagnoseFirstRun(session, first)), ...(await runUnreached(session, first))];
  const activeFailures = await dropQuarantinedFailures(progress, failures);
  let pending = activeFailures.filter(({ failure }) => failure.scope === 'suite');
  const tests = activeFailures.filter(({ failure }) => failure.scope === 'test');
  if (pending.length === 0) pending = tests.splice(0);
  for (;;) {
    while (pending.length > 0 && mayStartMoreWork(progress)) {
      pending = await healRound(progress, pending);
      // The suite's own failure could not be healed, but tests ran despite it, so their failures are healed one by one.
      if (pending.length === 0) pending = tests.splice(0).filter((failure) => isUndecided(progress, failure));
      if (pending.length === 0 && !isSuiteRed(progress)) pending = releaseBlockedFailures(progress);
    }
    if (!session.signal.aborted) await revertDeadEnds(progress);
    await recheckFailedCauses(progress);
    const remainder = await proveFixes(progress, first);
    const remaining = [
      ...(await healUnprovenCauses(progress, remainder.toRepeat)),
      ...remainder.failures.map(([, failure]) => failure),
    ];
    pending = [...pending, ...remaining];
    const hasUnprovenFix = [...progress.causes.values()].some((cause) => isUnproven(progress, cause));
    if ((remaining.length === 0 || !mayStartMoreWork(progress)) && !hasUnprovenFix) break;
  }
  const suiteRed = pending.some(({ failure }) => failure.scope === 'suite') || isSuiteRed(progress);
  return { suiteRed, paused: announceIfPaused(progress) };
}

/** Heals only these causes, and proves their fixes until each cause has ended; `paused` means that too many escalations are open. */
export async function healGivenCauses(
  progress: Progress,
  causes: readonly Cause[],
  first: SuiteRun,
): Promise<{ readonly paused: boolean }> {
  for (const cause of causes) announceCause(progress, cause);
  await healCauses(progress, causes, { revealed: new Map(), searches: null });
  do await healUnprovenCauses(progress, (await proveFixes(progress, first)).toRepeat);
  while ([...progress.causes.values()].some((cause) => isUnproven(progress, cause)));
  return { paused: announceIfPaused(progress) };
}

function announceIfPaused(progress: Progress): boolean {
  const paused = isPausedNow(progress);
  if (paused)
    progress.session.bus.emit({ type: 'agent.build_paused', status: 'escalation_threshold_exceeded' });
  return paused;
}

/** Diagnoses the first run. A test already red in a shard report counts as confirmed after this run. */
async function diagnoseFirstRun(
  { diagnostics, observations, reportedRed }: Session,
  run: SuiteRun,
): Promise<readonly DiagnosedFailure[]> {
  const failures = await diagnostics.diagnose(run);
  const observed = observeRun({ run, failures }, []);
  observations.add(new Map([...observed].filter(([key]) => reportedRed?.has(key))));
  observations.add(observed);
  return failures;
}

/** Runs the tests that the first run did not reach because of `maxFailures`, since a run must not end green without them; returns their failures. */
async function runUnreached(session: Session, first: SuiteRun): Promise<readonly DiagnosedFailure[]> {
  const ids = first.tests.flatMap(({ test, outcome }) => (outcome === 'not-run' ? [test.id] : []));
  if (!first.stoppedEarly || ids.length === 0 || session.signal.aborted) return [];
  const rerun = await retest(session, { failures: [], purpose: 'confirm', causeId: null, ids });
  return rerun.others;
}

/** Heals causes again whose fix did not hold in the proof. */
async function healUnprovenCauses(
  progress: Progress,
  toRepeat: readonly CauseWork[],
): Promise<readonly DiagnosedFailure[]> {
  const revealed = new Map<string, DiagnosedFailure>();
  for (const work of toRepeat) {
    if (mayStartMoreWork(progress)) {
      for (const [key, failure] of await repeatHealing(progress, work)) revealed.set(key, failure);
      continue;
    }
    announceVerdicts(progress.session, work.cause.members, { verdict: 'failed' });
    const last = work.attempts.at(-1);
    const reason = (last && getEndReason(last)) ?? 'interrupted';
    await endCause(progress, work.cause, { verdict: 'interrupted', reason });
  }
  return [...revealed.values()];
}

/** Returns the failures that could not be confirmed because the suite did not start, and are still undecided. */
function releaseBlockedFailures(progress: Progress): DiagnosedFailure[] {
  const blocked = [...progress.blocked.values()];
  progress.blocked.clear();
  return blocked.filter((failure) => isUndecided(progress, failure));
}

/** True if a failed test has no cause, or if a failure without a cause superseded its last one. */
function isUndecided(progress: Progress, { failure }: DiagnosedFailure): boolean {
  const test = progress.session.bus.getRun().tests.get(failureKey(failure));
  const last = progress.causes.get(test?.causeIds.at(-1) ?? '');
  const hasNext = last !== undefined && getCurrentVerdict(progress, last) === 'superseded';
  return test?.verdict === 'failed' && (test.causeIds.length === 0 || hasNext);
}

/** Confirms, groups and heals one batch of failures; returns newly revealed ones. */
async function healRound(
  progress: Progress,
  failures: readonly DiagnosedFailure[],
): Promise<DiagnosedFailure[]> {
  const active = await dropQuarantinedFailures(progress, failures);
  const { workspace } = progress.session;
  const likelyCauses = groupIntoCauses(active);
  const reviewers = mayReviewFixes(progress.session) ? 1 : 0;
  const copiesReady = workspace.prepare(countParallelAgents(progress.session, likelyCauses) + reviewers);
  const { confirmed, flaky, uncovered, blockedBy } = await confirm(progress, active);
  if (progress.session.signal.aborted) return [...failures];
  await recordFlakes(progress, flaky);
  if (blockedBy) {
    for (const failure of active) progress.blocked.set(failureKey(failure.failure), failure);
    return [blockedBy];
  }
  // From here on, the project may contain a change under trial, which must not get into a copy.
  await copiesReady;
  const grouped = registerCauses(progress, groupIntoCauses(confirmed));
  const searches = (await progress.session.blame?.(grouped)) ?? null;
  if (searches) progress.searches.push(searches);
  const causes = joinCauses(progress, await searchBeforeAgents(progress.session, searches, grouped));
  for (const cause of causes) progress.causes.set(cause.id, cause);
  const next = new Map(listFailuresWithoutCause(progress, uncovered));
  await healCauses(progress, causes, { revealed: next, searches });
  return [...next.values()];
}

/** How many Playwright runs may search for the changes to blame before the first agent starts. */
const MAX_RUNS_BEFORE_AGENT = 3;

/**
 * Searches for the change that broke the first cause for an agent, so that the prompt names it; the other causes share the runs (BL-1). Skips causes
 * with an open escalation, which get no agent.
 */
async function searchBeforeAgents(
  { store }: Pick<Session, 'store'>,
  searches: BlameSearches | null,
  causes: readonly Cause[],
): Promise<readonly Cause[]> {
  const asked = new Set(
    searches ? (await store.listEscalations('pending')).map(({ signature }) => signature) : [],
  );
  const first = causes.find(({ id, lead }) => searches?.needsRun(id) && !asked.has(storedSignature(lead)));
  const needsSearch = () => first !== undefined && searches?.needsRun(first.id) === true;
  for (let run = 0; run < MAX_RUNS_BEFORE_AGENT && needsSearch(); run += 1) await searches?.next();
  return Promise.all(
    causes.map(async (cause) => {
      const isKnown = searches && (cause === first || !searches.needsRun(cause.id));
      const blame = isKnown ? await searches.findBlame(cause.id) : null;
      return blame ? { ...cause, blame } : cause;
    }),
  );
}

/** Gives causes ids that are unique in a run, determines their parents, and announces them. */
function registerCauses(progress: Progress, causes: readonly Cause[]): Cause[] {
  const earlierCauses = [...progress.causes.values()];
  return causes.map((grouped) => {
    const id = `c${(progress.causeCount += 1)}`;
    const cause = { ...grouped, id, parent: findParent(earlierCauses, grouped) };
    announceCause(progress, cause);
    return cause;
  });
}

function findParent(earlierCauses: readonly Cause[], cause: Cause): string | null {
  const keys = collectKeys(cause);
  const parent = earlierCauses.findLast(
    ({ lead, members }) =>
      lead.failure.scope === 'suite' || members.some(({ failure }) => keys.has(failureKey(failure))),
  );
  return parent?.id ?? null;
}

/** Removes failures of quarantined tests: they are reported, get no agent, and do not fail the run (ME-7). */
async function dropQuarantinedFailures(
  { session }: Progress,
  failures: readonly DiagnosedFailure[],
): Promise<DiagnosedFailure[]> {
  const { bus, store, settings, clock } = session;
  const byAnswer = new Set((await store.listQuarantines()).map((quarantine) => quarantine.testId));
  const today = new Date(clock.now()).toISOString().slice(0, 10);
  // People copy the names from reports, which omit invisible characters.
  const byFile = new Set(
    settings.quarantine.flatMap(({ test, until }) => (until >= today ? [visibleText(test)] : [])),
  );
  const tests = listTests(failures).filter(
    ({ id, titlePath }) => byAnswer.has(id) || byFile.has(visibleText(formatTitles(titlePath))),
  );
  const ids = new Set(tests.map(({ id }) => id));
  if (tests.length > 0) bus.emit({ type: 'tests.quarantined', tests });
  return failures.filter(({ failure }) => !ids.has(failureKey(failure)));
}
