import type { Attempt } from './core/attempt.js';
import type { Cause } from './core/cause.js';
import { violationLine } from './core/guard/violation.js';
import { headlineOf } from './core/headline.js';
import { judge, type Judged, type Observation } from './core/judge.js';
import { bareAttempt, deploy, type Deployment } from './deploy.js';
import { guardAttempt } from './guard-attempt.js';
import { prove, type Proved } from './prove.js';
import { testProofs, type Trial } from './trial.js';
import { retest, type Retest } from './retest.js';
import type { Session } from './session.js';
import type { Memory } from './store/ledger.js';
import type { Change } from './workspace/change.js';

/** What to try. */
export interface Try {
  /** Null runs the test again with the code as it is (HL-5). */
  readonly agent: string | null;
  readonly n: number;
  readonly previous: readonly Attempt[];
  /** Signatures that the same tests have had before in this run. */
  readonly earlier: ReadonlySet<string>;
  /** What earlier runs know of the failure. */
  readonly known: Memory;
}

/** A judged attempt, with what its last re-run showed of the tests; null where nothing was run, or it says nothing that stays. */
export interface TriedFix {
  readonly attempt: Attempt;
  readonly retest: Retest | null;
  /** What the proof showed of the cause's tests; absent where nothing was proven. */
  readonly trial?: Trial;
}

/**
 * One try at a cause: an agent's work in the copy (or none), the guard over what it changed, its patch in the project, the re-run that
 * judges it, the proof, and the way back of what did not hold.
 */
export async function tryFix(session: Session, cause: Cause, work: Try): Promise<TriedFix> {
  const { agent, n, previous, earlier, known } = work;
  const deployed =
    agent === null
      ? { attempt: bareAttempt(n), work: null }
      : await deploy(session, { cause, agent, n, previous, known });
  const { outcome } = deployed.attempt;
  // What could not be a fix, or was not finished, stays in the copy.
  if (outcome === 'aborted' || outcome === 'unusable' || deployed.work?.refused)
    return unapplied(deployed, {});
  const violations = await guardAttempt(session, cause, deployed);
  const [worst] = violations;
  if (worst) {
    const failedBecause = `weakens the tests: ${violationLine(worst)}`;
    return unapplied(deployed, { judged: 'rejected', failedBecause, violations });
  }
  const applied = deployed.work?.change ? await session.workspace.apply(deployed.work.change) : null;
  if (applied?.kind === 'conflict') {
    const failedBecause = `the files changed under the agent: ${applied.files.join(', ')}`;
    return unapplied(deployed, { judged: 'conflict', failedBecause });
  }
  if (applied?.kind === 'failed') {
    return unapplied(deployed, { failedBecause: `its change could not be written: ${applied.reason}` });
  }
  return judgeApplied(session, cause, {
    attempt: deployed.attempt,
    change: applied?.change ?? null,
    earlier,
  });
}

/** Its change, if there is one, is in its patch alone. */
function unapplied({ attempt }: Deployment, over: Partial<Attempt>): TriedFix {
  return { attempt: { ...attempt, ...over, takenBack: attempt.files.length > 0 }, retest: null };
}

/** An attempt whose change is in the project. */
export interface AppliedAttempt {
  readonly attempt: Attempt;
  /** Null where there was nothing to apply. */
  readonly change: Change | null;
}

async function judgeApplied(
  session: Session,
  cause: Cause,
  { earlier, ...applied }: AppliedAttempt & { earlier: ReadonlySet<string> },
): Promise<TriedFix> {
  const seen = await retest(session, { failures: [cause.lead], purpose: 'retest', causeId: cause.id });
  if (session.signal.aborted) return { attempt: await reverted(session, applied), retest: null };
  const judged = withoutLoop(judge(cause.lead, seen.observe(cause.lead)), seen.observe(cause.lead), earlier);
  if (judged.judgement === 'green') return judgeGreen(session, cause, { applied, retest: seen });
  const held = judged.judgement === 'changed';
  const attempt = held ? applied.attempt : await reverted(session, applied);
  const failedBecause = joined(attempt.failedBecause, judged.because);
  return { attempt: { ...attempt, judged: judged.judgement, failedBecause }, retest: seen };
}

/** An error that the same test had before, and an agent had mended: A, B, A is a loop, not progress (HN-9). */
function withoutLoop(judged: Judged, seen: Observation, earlier: ReadonlySet<string>): Judged {
  const now = seen.failure ?? seen.suiteFailure;
  if (judged.judgement !== 'changed' || !now || !earlier.has(now.signature)) return judged;
  return {
    judgement: 'still-failing',
    because: `an error that was mended before came back: ${headlineOf(now)}`,
  };
}

/** One green run proves nothing (HN-5): it is repeated, and the change taken out and put back. */
async function judgeGreen(
  session: Session,
  cause: Cause,
  { applied, retest }: { applied: AppliedAttempt; retest: Retest },
): Promise<TriedFix> {
  const proved = await prove(session, cause, applied);
  if (proved.kind === 'interrupted') return { attempt: await reverted(session, applied), retest: null };
  const { judged, failedBecause } = judgementOf(proved, applied.attempt);
  if (judged === 'green' && proved.kind === 'proven') return proven(applied.attempt, proved, retest);
  const attempt = await reverted(session, applied);
  return {
    attempt: { ...attempt, judged, failedBecause, proof: proved.steps },
    retest: judged === 'still-failing' ? null : retest,
  };
}

function proven(
  attempt: Attempt,
  { steps, trial }: Extract<Proved, { kind: 'proven' }>,
  retest: Retest,
): TriedFix {
  const tests = testProofs(trial);
  const several = tests.length > 1 ? { testProofs: tests } : {};
  return {
    attempt: { ...attempt, judged: 'green', failedBecause: null, proof: steps, ...several },
    retest,
    trial,
  };
}

/** Who changed nothing has healed nothing, however green the test is now. */
function judgementOf(
  proved: Exclude<Proved, { kind: 'interrupted' }>,
  { agent, files }: Attempt,
): Pick<Attempt, 'judged' | 'failedBecause'> {
  if (proved.kind === 'flaked') return { judged: 'still-failing', failedBecause: proved.because };
  if (proved.kind === 'not-needed') return { judged: 'flaky', failedBecause: proved.because };
  if (agent === null)
    return { judged: 'flaky', failedBecause: 'green when it was run again with the code as it is' };
  if (files.length === 0)
    return {
      judged: 'flaky',
      failedBecause: 'green after an agent that changed no file: flaky, or mended outside the project',
    };
  return { judged: 'green', failedBecause: null };
}

function joined(...parts: readonly (string | null)[]): string | null {
  const told = parts.filter((part) => part !== null);
  return told.length > 0 ? told.join('; ') : null;
}

/** A fix that did not hold is reverted, so that the next attempt starts from the user's own code. */
async function reverted(session: Session, { attempt, change }: AppliedAttempt): Promise<Attempt> {
  if (change === null) return attempt;
  const { leftAlone } = await session.workspace.move([change], 'out');
  if (leftAlone.length > 0) {
    const message = `Left as they are, because they changed again after the agent: ${leftAlone.join(', ')}`;
    session.bus.emit({ type: 'run.warning', message });
  }
  return { ...attempt, takenBack: true };
}
