import type { Cause, DiagnosedFailure } from './core/cause.js';
import { chooseProven } from './core/choose-proven.js';
import { failureKey } from './core/failure.js';
import type { ProofEnding, ProofStep, TestProof } from './core/proof.js';
import type { SuitePurpose } from './event.js';
import type { SuiteRun } from './playwright/suite-run.js';
import { retest } from './retest.js';
import type { Session } from './session.js';

/** One test of the cause on its way through the proof. */
export interface Candidate {
  readonly failure: DiagnosedFailure;
  /** Takes part in every run of the proof, rather than in one. */
  readonly isProven: boolean;
  readonly steps: ProofStep[];
  /** Null while it takes part. */
  ended: ProofEnding | null;
  /** What ailed it when it was red with the fix. */
  now: DiagnosedFailure | null;
}

/** The tests of one cause while its fix is being proven, and what their runs brought to light beside them. */
export interface Trial {
  readonly session: Session;
  readonly causeId: string;
  /** The leading test first. */
  readonly candidates: readonly Candidate[];
  readonly others: DiagnosedFailure[];
  readonly runs: SuiteRun[];
}

/** A trial of the leading test alone, or of the whole cause; the leading one was green once. */
export function startTrial(
  session: Session,
  cause: Cause,
  { withFollowers }: { withFollowers: boolean },
): Trial {
  const { lead, members } = cause;
  const followers = withFollowers ? members.filter((one) => one !== lead) : [];
  const proven = chooseProven(cause);
  const candidates = [lead, ...followers].map((failure) => ({
    failure,
    isProven: proven.has(failure),
    steps: reds(session),
    ended: null,
    now: null,
  }));
  candidates[0]?.steps.push('green');
  const once = candidates.filter(({ isProven }) => !isProven).length;
  if (once > 0) {
    const message = `${cause.id}: its fix is proven on ${candidates.length - once} of its ${candidates.length} tests; the other ${once} are run with it once`;
    session.bus.emit({ type: 'run.warning', message });
  }
  return { session, causeId: cause.id, candidates, others: [], runs: [] };
}

/** The runs before: the first, and those that confirmed it. */
function reds({ settings }: Session): ProofStep[] {
  return Array.from({ length: 1 + settings.verify.confirm }, () => 'red' as const);
}

/** Those that take part still, the leading one first. */
export function takingPart({ candidates }: Trial): Candidate[] {
  return candidates.filter(({ ended }) => ended === null);
}

/** What one run of several candidates showed. */
export interface Split {
  readonly green: readonly Candidate[];
  readonly red: readonly Candidate[];
}

/** Runs candidates, all in one Playwright run, and writes down what it showed of each. */
export async function runOnce(
  trial: Trial,
  candidates: readonly Candidate[],
  purpose: SuitePurpose,
): Promise<Split> {
  const { session, causeId } = trial;
  const failures = candidates.map(({ failure }) => failure);
  const seen = await retest(session, { failures, purpose, causeId });
  const green: Candidate[] = [];
  const red: Candidate[] = [];
  for (const candidate of candidates) {
    const { ended, failure, suiteFailure } = seen.observe(candidate.failure);
    const isGreen = ended === 'passed' && !suiteFailure;
    (isGreen ? green : red).push(candidate);
    if (session.signal.aborted) continue;
    candidate.steps.push(isGreen ? 'green' : 'red');
    candidate.now = isGreen ? null : (failure ?? suiteFailure);
  }
  if (purpose === 'shared-fix') {
    trial.others.push(...seen.others);
    if (seen.run) trial.runs.push(seen.run);
  }
  return { green, red };
}

/** Says of candidates how they ended. */
export function end(candidates: readonly Candidate[], ended: ProofEnding): void {
  for (const candidate of candidates) candidate.ended = ended;
}

/** What the trial says of each test; of those that take part still, the whole of it. */
export function testProofs({ candidates }: Trial): TestProof[] {
  return candidates.map(({ failure, steps, ended }) => ({
    id: failureKey(failure.failure),
    proof: [...steps],
    ended: ended ?? 'proven',
  }));
}
