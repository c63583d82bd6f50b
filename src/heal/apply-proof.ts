import type { AttemptEnd } from '../core/attempt.js';
import type { AvoidedReason } from '../core/avoided.js';
import type { DiagnosedFailure } from '../core/cause.js';
import { failureKey } from '../core/failure.js';
import type { TriedCause } from './heal-cause.js';
import {
  type CauseRecord,
  changesOf,
  endCause,
  type Progress,
  type ProofTest,
  put,
  stepsOf,
  testProofs,
} from './progress.js';
import type { ByKey } from './apply-result.js';
import { decideLast, revertFixes, withoutProof } from './take-out.js';
import { tellDecided } from './tell-tests.js';

/** Why a fix is not proven. */
export type Refuted = Extract<AttemptEnd, { kind: 'rejected' | 'still-failing' | 'flaky' }>;

/** The result of a proof, apart from the steps of its tests. */
export interface Shown {
  /** Causes whose fix was refuted, by id. */
  readonly refuted: ReadonlyMap<string, Refuted>;
  /** Ids of causes whose error was there only with a fix that is reverted now. */
  readonly gone: ReadonlySet<string>;
  /** Newly red tests of no known cause, by failure key. */
  readonly others: ReadonlyMap<string, DiagnosedFailure>;
}

/** What remains to be done after a proof. */
export interface Left {
  /** Causes whose fix did not hold, with the failed attempt. */
  readonly again: readonly TriedCause[];
  /** Tests that turned out to be red, each of which gets a cause of its own. */
  readonly failures: ByKey;
}

/** After an interrupt: reverts the fixes that are not proven, and keeps their patches. */
export async function abandonProof(progress: Progress): Promise<void> {
  const { causes } = progress;
  const open = causes.filter((one) => one.unproven?.by === 'own-fix');
  if (open.length > 0) await revertFixes(progress, open.flatMap(changesOf));
  for (const record of open) {
    await decideLast(progress, record, { kind: 'interrupted', because: 'interrupted' });
  }
  for (const record of causes.filter((one) => one.unproven)) {
    await endCause(progress, {
      ...withoutProof(record),
      verdict: 'interrupted',
      reason: 'interrupted before its fix was proven',
    });
  }
  progress.proofTests.length = 0;
}

/** Records and announces what the proof showed for each cause and each test. */
export async function applyProof(progress: Progress, { refuted, gone, others }: Shown): Promise<Left> {
  const again: TriedCause[] = [];
  for (const record of progress.causes.filter((one) => one.unproven)) {
    const tests = progress.proofTests.filter(({ causeId }) => causeId === record.cause.id);
    const { id } = record.cause;
    const goesOn = await applyToCause(progress, record, {
      tests,
      how: refuted.get(id),
      isGone: gone.has(id),
    });
    if (goesOn) again.push(goesOn);
  }
  const failures = new Map(others);
  for (const test of progress.proofTests) {
    const left = test.isOther ? null : applyToTest(progress, test, refuted.get(test.causeId));
    if (left) failures.set(failureKey(left.failure), left);
  }
  progress.proofTests.length = 0;
  return { again, failures: [...failures] };
}

interface Proved {
  tests: readonly ProofTest[];
  how: Refuted | undefined;
  isGone: boolean;
}

/** Returns the cause if it has to be healed again. */
async function applyToCause(
  progress: Progress,
  record: CauseRecord,
  { tests, how, isGone }: Proved,
): Promise<TriedCause | null> {
  const { unproven, ...rest } = record;
  const holds = tests.some(({ ended }) => ended === null);
  const leading =
    tests.find(({ ended, isLead }) => isLead && ended === null) ??
    tests.find(({ ended }) => ended === null) ??
    tests[0];
  const several = tests.length > 1 ? { testProofs: testProofs(progress, tests) } : {};
  const proof = { proof: leading ? stepsOf(progress, leading) : [], ...several };
  if (how && unproven?.by === 'own-fix') {
    const attempts = await decideLast(progress, record, how);
    const ended = { ...rest, attempts, reason: how.because };
    if (how.kind === 'flaky') {
      await endCause(progress, { ...ended, verdict: 'flaky' });
      return null;
    }
    if (isGone) {
      tellDecided(progress.session, record.cause.members, { verdict: 'failed' });
      await endCause(progress, { ...ended, verdict: 'failed' });
      return null;
    }
    // If self-heal is killed before the cause is healed again, `resume` picks it up.
    put(progress, { ...ended, verdict: 'interrupted' });
    return { ...unproven.healed, attempts };
  }
  if (unproven?.by === 'other-fix' && !holds) {
    if (unproven.otherwise) put(progress, unproven.otherwise);
    else if (tests.every(({ ended }) => ended === 'flaky'))
      await endCause(progress, { ...rest, verdict: 'flaky', reason: 'also green without the fix' });
    else
      await endCause(progress, {
        ...rest,
        verdict: 'superseded',
        reason: 'red again despite the fix that had turned it green',
      });
    return null;
  }
  if (record.verdict === 'superseded') {
    // Dead ends are out by now: a heal that is proven rests on it.
    put(progress, { ...rest, attempts: await decideLast(progress, record) });
    return null;
  }
  const attempts = await decideLast(progress, record, { kind: 'green', ...proof });
  const proven = unproven?.by === 'other-fix' ? proof : {};
  await endCause(progress, { ...rest, attempts, verdict: greenWord(progress) }, proven);
  return null;
}

/** Without a proof, nothing is called healed (HN-5). */
function greenWord({ session }: Progress): 'healed' | 'green-once' {
  return session.settings.verify.level === 'none' ? 'green-once' : 'healed';
}

/** Decides the final status of a test; returns its failure if that needs a cause of its own. */
function applyToTest(
  progress: Progress,
  { failure, ended, isLead, causeId }: ProofTest,
  how: Refuted | undefined,
): DiagnosedFailure | null {
  const { session } = progress;
  // Its cause is going to be healed again.
  if (how && how.kind !== 'flaky') return null;
  if (ended === 'red' || ended === 'unsteady') return session.observations.latestFailure(failure) ?? failure;
  const isFlaky = ended === 'flaky' || how?.kind === 'flaky';
  if (!isLead) {
    const reason = isFlaky ? 'flaky' : whyAvoided(progress, { failure, causeId });
    if (reason) session.bus.emit({ type: 'agent.avoided', reason, count: 1 });
  }
  const verdict = isFlaky ? 'flaky' : greenWord(progress);
  tellDecided(session, [failure], { verdict, sharedFix: !isLead && !isFlaky });
  if (isFlaky && failure.failure.scope === 'test')
    session.bus.emit({ type: 'cause.flaky', tests: [failure.failure.test], causeId });
  return null;
}

/** Returns why no agent was started for a test that another test's fix healed; null if an agent was started and then stopped. */
function whyAvoided(
  { causes }: Progress,
  { failure, causeId }: Pick<ProofTest, 'failure' | 'causeId'>,
): AvoidedReason | null {
  const record = causes.find(({ cause }) => cause.id === causeId);
  if (record?.cause.lead !== failure) return 'shared-cause';
  return record.attempts.some(({ end }) => end.kind === 'interrupted') ? null : 'earlier-fix';
}
