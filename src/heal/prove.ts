import { formatReview } from '../model/attempt.js';
import type { Cause, DiagnosedFailure } from '../model/cause.js';
import { failureKey } from '../model/failure.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { unreachable } from '../unreachable.js';
import {
  listCauseChanges,
  findHeldAttempt,
  listKeptAttempts,
  listKeptCauses,
  listKeptChanges,
  type Progress,
  createProofTest,
  type ProofTest,
  listRevealingCauses,
  listProofSteps,
  summarizeCause,
} from './progress.js';
import { listLeftovers, proveInCleanCopy } from './clean-proof.js';
import { followPlan } from './follow-plan.js';
import { findUnclearFixes } from './plan-proof.js';
import {
  type FixInProof,
  isSameSet,
  type NextProofStep,
  type ProofQuestion,
  type TestInProof,
} from './proof-question.js';
import { runAndRecord, Regression } from './regression.js';
import {
  listChangesWithRevealed,
  decideHeldAttempt,
  revertDeadEnds,
  revertFixes,
  revertFixesThatBroke,
} from './revert-fixes.js';
import { retest } from './retest.js';
import { abandonProof, type Remainder, type Refutation, applyProof } from './apply-proof.js';
import { listFailuresWithoutCause } from './apply-result.js';
import { addUsage } from './attempt/start-agent.js';
import { isGreen } from './judge.js';
import { type FixToProve, type Reviews, startReviews } from './review/review-fixes.js';

const nothing: Remainder = { toRepeat: [], failures: [] };

/** One shared proof of all unproven fixes. The results of its runs are in the observations. */
interface Proof {
  readonly progress: Progress;
  /** The ids of all changes, in the order in which they were applied. */
  readonly applied: readonly string[];
  readonly regression: Regression;
  readonly refuted: Map<string, Refutation>;
  /** The ids of causes whose error disappeared when the fix that had revealed it was reverted. */
  readonly vanished: Set<string>;
  readonly newFailures: Map<string, DiagnosedFailure>;
  /** For causes whose test was green without its fix, by id: the files outside git that changed since work on it began. */
  readonly leftovers: Map<string, readonly string[]>;
  /** The ids of causes for which the user was told that they are proven alone. */
  readonly alone: Set<string>;
}

/**
 * Proves all fixes in shared runs (HN-5): makes the runs that the plan asks for and reverts the fixes that they refute, until all remaining fixes hold.
 * A kill before the end of the proof reverts the fixes.
 */
export async function proveFixes(progress: Progress, first: SuiteRun): Promise<Remainder> {
  const { session, proofTests } = progress;
  if (proofTests.length === 0 && listKeptCauses(progress).length === 0) return nothing;
  const proof: Proof = {
    progress,
    applied: session.workspace.listApplied(),
    regression: new Regression(progress, first),
    refuted: new Map(),
    vanished: new Set(),
    newFailures: new Map(),
    leftovers: new Map(),
    alone: new Set(),
  };
  // The reviewers work in copies while the proof uses the project.
  const reviews = await startReviews(session, listHoldingFixes(proof));
  try {
    await revertFixesWithoutHeal(proof);
    await followPlan(
      () => createQuestion(proof),
      session.signal,
      async (next) => {
        // After a reviewer rejects a fix, the remaining fixes must be proven without that fix.
        if (next.kind === 'settled') return applyReviews(proof, reviews);
        await executeStep(proof, next);
        return true;
      },
    );
  } finally {
    await reviews.stop();
  }
  if (!session.signal.aborted) {
    await revertTemporarily(progress, []);
    const { newFailures } = proof;
    for (const failure of await proof.regression.announceEnd(listTestsInProof(proof)))
      newFailures.set(failureKey(failure.failure), failure);
  }
  if (session.signal.aborted) {
    await abandonProof(progress);
    return nothing;
  }
  return applyProof(progress, { ...proof, unproven: findUnclearFixes(createQuestion(proof)) });
}

function createQuestion(proof: Proof): ProofQuestion {
  const { progress, regression } = proof;
  const { settings } = progress.session;
  const { repeat, flips, level } = settings.verify;
  const fixes = listKeptCauses(progress).map(({ id }) => createFixInProof(proof, id));
  const getPosition = ({ changes }: FixInProof) => proof.applied.indexOf(changes.at(-1) ?? '');
  const tests = listTestsInProof(proof);
  return {
    fixes: fixes.toSorted((a, b) => getPosition(a) - getPosition(b)),
    tests: tests.map((test) => createPlannedTest(progress, test)),
    greens: repeat,
    reds: flips,
    needsCleanCopy: level === 'clean',
    haveDifferentCauses: (fix, other) =>
      progress.searches.some((searches) => searches.haveDifferentCauses(fix, other)),
    otherTests: regression.listOtherTests(tests, { hasRefutedFixes: proof.refuted.size > 0 }),
  };
}

function createFixInProof({ progress, leftovers }: Proof, id: string): FixInProof {
  const cause = progress.causes.get(id);
  return {
    id,
    changes: cause ? listCauseChanges(progress, cause) : [],
    withRevealed: cause ? listChangesWithRevealed(progress, [cause]) : [],
    leftovers: leftovers.get(id) ?? [],
  };
}

/** A test of the plan, with the test that it was made from. */
interface PlannedTest extends TestInProof {
  readonly test: ProofTest;
}

function createPlannedTest(progress: Progress, test: ProofTest): PlannedTest {
  const { observations } = progress.session;
  const { failure, causeId: fix, isLead, runsBothWays, since, revealedBy, ended } = test;
  const kept = listKeptChanges(progress);
  const key = failureKey(failure.failure);
  return {
    test,
    key,
    fix,
    isLead,
    runsBothWays,
    isSuite: failure.failure.scope === 'suite',
    runsWithOthers: failure.along !== undefined,
    since,
    // The fixes that revealed its error count as part of its own fix (HL-3).
    redWith: observations
      .findFirstRedChanges(failure, new Set(kept))
      .filter((id) => !revealedBy.includes(id)),
    results: observations.listResults(key),
    ended,
  };
}

const toProofTests = (tests: readonly TestInProof[]): ProofTest[] =>
  tests.map((planned) => (planned as PlannedTest).test);

function listTestsInProof({ progress, refuted }: Proof): ProofTest[] {
  return progress.proofTests.filter(({ ended, causeId }) => ended === null && !refuted.has(causeId));
}

async function executeStep(proof: Proof, next: Exclude<NextProofStep, { kind: 'settled' }>): Promise<void> {
  const { progress, regression } = proof;
  switch (next.kind) {
    case 'run':
      return runTests(proof, next);
    case 'run-clean':
      return runInCleanCopy(proof, next);
    case 'run-others':
      await revertTemporarily(progress, []);
      return regression.run(next.again, listTestsInProof(proof));
    case 'run-culprit': {
      const part = 'culprit';
      await revertTemporarily(progress, next.without);
      await runAndRecord(progress, { ids: next.keys, keys: new Set(next.keys), part, without: next.without });
      return;
    }
    case 'end':
      for (const test of toProofTests([next.test])) test.ended = next.outcome;
      return;
    case 'refute': {
      const cause = progress.causes.get(next.fix);
      if (!cause) throw new Error(`There is no cause ${next.fix}`);
      if (next.refutation.kind === 'needless') await revertNeedlessFix(progress, cause);
      else await refuteFix(proof, cause, next.refutation);
      return revertFixesWithoutHeal(proof);
    }
    case 'broke':
      regression.broke.push(...(await revertFixesThatBroke(progress, next.tests)));
      // After one fix is reverted, the search has already run this state; after several, it has not.
      if (next.tests.size === 1) regression.markStateAsRun();
      return revertFixesWithoutHeal(proof);
    default:
      return unreachable(next);
  }
}

/** Runs tests of several causes in one Playwright run. */
async function runTests(
  proof: Proof,
  { part, tests: planned, without, doubt }: Extract<NextProofStep, { kind: 'run' }>,
): Promise<void> {
  const { progress, alone: provenAlone } = proof;
  const { bus, observations, signal } = progress.session;
  if (doubt && !provenAlone.has(doubt.fix)) {
    provenAlone.add(doubt.fix);
    bus.emit({ type: 'run.warning', message: `Proving ${doubt.fix} on its own: ${doubt.why}` });
  }
  if (!(await revertTemporarily(progress, without))) {
    const noResult = { ended: 'not-run', failure: null, suiteFailure: null } as const;
    const fixes = progress.session.workspace.listApplied().filter((id) => !without.includes(id));
    observations.add(new Map(planned.map(({ key }) => [key, noResult])), { part, fixes, without });
    return;
  }
  const tests = toProofTests(planned);
  const isWithoutOthers = part === 'shared' && without.length > 0;
  const listIdsToRun = ({ failure: { rerunIds, along = [] } }: ProofTest) =>
    isWithoutOthers ? rerunIds.filter((id) => !along.includes(id)) : rerunIds;
  const ids = [...new Set(tests.flatMap(listIdsToRun))];
  const rerun = await retest(progress.session, {
    failures: tests.map(({ failure }) => failure),
    purpose: 'proof',
    causeId: doubt?.fix ?? null,
    ids: ids.length > 0 ? ids : findFastestTest(progress),
    proof: { part, without },
  });
  if (signal.aborted) return;
  for (const [key, failure] of listFailuresWithoutCause(progress, rerun.others))
    proof.newFailures.set(key, failure);
  if (without.length === 0) return;
  const isRed = ({ failure }: ProofTest) => !isGreen(rerun.observe(failure));
  const cause = progress.causes.get(doubt?.fix ?? '');
  if (cause && tests.some(isRed)) announceNeededTests(progress.session, cause);
  // In a run that tells fixes apart, some tests keep their fix.
  const isWithoutFix = ({ fix }: TestInProof) => {
    const { changes } = createFixInProof(proof, fix);
    return part !== 'separate' || (changes.length > 0 && changes.every((id) => without.includes(id)));
  };
  const green = toProofTests(planned.filter(isWithoutFix)).filter((test) => !isRed(test));
  const files = green.length > 0 ? await listLeftovers(progress, green) : [];
  for (const { causeId } of files.length > 0 ? green : []) proof.leftovers.set(causeId, files);
}

async function runInCleanCopy(
  { progress }: Proof,
  { tests: planned, without, because }: Extract<NextProofStep, { kind: 'run-clean' }>,
): Promise<void> {
  const tests = toProofTests(planned);
  if (because !== null) {
    const causes = [...new Set(tests.map(({ causeId }) => causeId))].join(', ');
    const message = `Proving ${causes} in a clean copy: ${because}`;
    progress.session.bus.emit({ type: 'run.warning', message });
  }
  const ids = [...new Set(tests.flatMap(({ failure }) => failure.rerunIds))];
  const isReverted = await revertTemporarily(progress, without);
  await proveInCleanCopy(progress, tests, {
    ids: ids.length > 0 ? ids : findFastestTest(progress),
    without,
    whyNotReverted: isReverted ? null : 'the fix could not be reverted',
  });
}

/** Reverts these changes in the project, and no others; returns false if somebody edited the same files: those edits and the fix then stay. */
async function revertTemporarily(progress: Progress, changes: readonly string[]): Promise<boolean> {
  const { session } = progress;
  const wanted = listKeptChanges(progress).filter((id) => !changes.includes(id));
  if (isSameSet(session.workspace.listApplied(), wanted)) return true;
  const { leftAlone } = await session.workspace.revertTemporarily(changes);
  if (leftAlone.length === 0) return true;
  await session.workspace.revertTemporarily([]);
  const message = `The fixes could not be reverted for their proof, because these files changed in the meantime: ${leftAlone.join(', ')}`;
  session.bus.emit({ type: 'run.warning', message });
  return false;
}

/** Reverts a fix whose test is green without it, thanks to other causes' fixes. */
async function revertNeedlessFix(progress: Progress, cause: Cause): Promise<void> {
  await revertFixes(progress, listCauseChanges(progress, cause));
  const because = 'its test is green without its own fix, thanks to the fix for another cause';
  await decideHeldAttempt(progress, cause, { kind: 'taken-out', because });
  progress.greenWithOthers.set(cause.id, 'healed by an earlier fix in this run');
  for (const [index, { failure, causeId, isLead, runsBothWays }] of progress.proofTests.entries())
    if (isLead && causeId === cause.id)
      progress.proofTests[index] = createProofTest(progress, {
        failure,
        causeId,
        isLead: false,
        runsBothWays,
      });
}

/**
 * Applies the reviews of the fixes that no run has contradicted (HN-11); returns true if a fix was reverted while others stay. An honest fix enters. If a
 * fix hides the fault, the next agent's prompt says so; in any other case, a person is asked.
 */
async function applyReviews(proof: Proof, reviews: Reviews): Promise<boolean> {
  const { progress } = proof;
  const { session } = progress;
  const before = proof.refuted.size;
  for (const { cause, attempt: fix } of listHoldingFixes(proof)) {
    const read = await reviews.waitFor(cause.id);
    if (session.signal.aborted) return false;
    if (!read || fix.reading) continue;
    const { reading } = read;
    const usage = fix.usage && read.usage ? addUsage(fix.usage, read.usage) : (read.usage ?? fix.usage);
    const attempt = {
      ...fix,
      reading,
      usage: usage && { ...usage, sessionId: fix.usage?.sessionId ?? null },
    };
    session.bus.emit({ type: 'attempt.held', causeId: cause.id, attempt });
    const lead = listTestsInProof(proof).find((test) => test.causeId === cause.id && test.isLead);
    if (reading.verdict === 'honest' || reading.verdict === 'not-read' || !lead) continue;
    const isHiding = reading.verdict === 'hides';
    const hides = isHiding ? { hides: true as const } : {};
    const because = `${isHiding ? '' : 'is this fix what you want? '}${formatReview(reading)}`;
    const steps = listProofSteps(progress, lead);
    await refuteFix(proof, cause, { kind: 'offered', side: 'app', proof: steps, because, ...hides });
  }
  if (proof.refuted.size > before) await revertFixesWithoutHeal(proof);
  return proof.refuted.size > before && listTestsInProof(proof).length > 0;
}

/** Returns the fixes that hold so far. */
function listHoldingFixes(proof: Proof): FixToProve[] {
  const { progress } = proof;
  const tested = new Set(
    listTestsInProof(proof).flatMap((test) => (test.runsBothWays ? [test.causeId] : [])),
  );
  return [...progress.causes.values()].flatMap((cause) => {
    const attempt = findHeldAttempt(progress, cause);
    if (attempt?.end.kind !== 'green' || !tested.has(cause.id)) return [];
    const chain = [...listRevealingCauses(progress, cause), cause];
    return [{ cause, attempt, parts: chain.flatMap((part) => listKeptAttempts(progress, part)) }];
  });
}

/** Reverts fixes that can no longer lead to a heal, so that the next run shows the others without them. */
async function revertFixesWithoutHeal({ progress, refuted, vanished }: Proof): Promise<void> {
  if (progress.session.signal.aborted) return;
  for (const id of await revertDeadEnds(progress, refuted)) vanished.add(id);
}

/** Announces that a test fails only after other tests: without its fix, it was green alone and is red after them. */
function announceNeededTests({ bus }: Progress['session'], cause: Cause): void {
  const { along: needs, ...lead } = cause.lead;
  if (needs)
    bus.emit({ type: 'cause.narrowed', cause: summarizeCause({ ...cause, lead: { ...lead, needs } }) });
}

async function refuteFix({ progress, refuted }: Proof, cause: Cause, refutation: Refutation): Promise<void> {
  if (progress.session.signal.aborted) return;
  refuted.set(cause.id, refutation);
  await revertFixes(progress, listCauseChanges(progress, cause));
}

/** Returns the ids that run the fastest green test, which is enough to show whether the suite starts. */
function findFastestTest({ session, rerunIds }: Progress): readonly string[] {
  const tests = [...session.bus.getRun().tests.values()].toSorted((a, b) => a.durationMs - b.durationMs);
  const id = (tests.find(({ verdict }) => verdict === 'passed') ?? tests[0])?.id;
  return id === undefined ? [] : (rerunIds[id] ?? [id]);
}
