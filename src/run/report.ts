import { type AgentUsage, type Attempt, sumCosts } from '../model/attempt.js';
import type { Blame } from '../model/blame.js';
import type { Cut, Note } from '../model/guard-findings.js';
import type { Proof, TestProof } from '../model/proof.js';
import type { VerifyLevel } from '../model/settings.js';
import { type CauseVerdict, type RunOutcome, type Verdict, isHealed } from '../model/verdict.js';
import type { Verification } from '../model/verification.js';
import type { CauseRecord } from '../model/cause.js';
import type { RegressionResult } from '../event.js';
import type { FlakeState, TestState, CauseState, RunState } from './run-state.js';
import { describePhaseEvent } from './phase-words.js';

/** `report.json`: the result of a run. Other programs read it; a change in meaning requires a new `schemaVersion`. */
export interface Report {
  schemaVersion: 1;
  runId: string;
  project: string;
  startedAt: string;
  outcome: RunOutcome;
  /** Null for an unfinished run, whose report is created from its events and not stored. */
  exitCode: number | null;
  /** Why no further agent was started, if the outcome is `paused` (ME-2). */
  status?: 'escalation_threshold_exceeded';
  /** The commit it ran on; null if there were uncommitted changes. */
  commit: string | null;
  /** The shards from whose reports these results come (`self-heal heal --from`), and the numbers of missing ones. */
  shards?: { total: number; missing: readonly number[] };
  /** True if evidence was only gathered and classified (`--dry-run`). */
  dryRun: boolean;
  tests: ReportTest[];
  causes: ReportCause[];
  escalations: ReportEscalation[];
  /** The flakes that `self-heal flaky` measured; absent in other runs. */
  flakes?: readonly FlakeState[];
  /** The requested level of proof. */
  verify: VerifyLevel;
  /** The re-run, after healing, of tests that the fixes may have broken (HN-6); null if there was none. */
  regression: RegressionResult | null;
  /** The verdict of `self-heal verify` on the changes in the working tree; absent in other runs. */
  verification?: Verification;
  warnings: readonly string[];
  /** How the tests ended, each counted once; a failure of the suite itself is a cause, not a test. */
  totals: {
    tests: number;
    passed: number;
    flaky: number;
    healed: number;
    /** Green with a fix that was not proven. */
    greenOnce: number;
    failed: number;
    /** Skipped by the suite itself. */
    skipped: number;
    /** Tests that no Playwright run reached. */
    notRun: number;
    /** Playwright runs, including the first one. */
    playwrightRuns: number;
    agentRuns: number;
    /** US dollars as reported by the agent programs; null if none did. */
    costUsd: number | null;
    inputTokens: number | null;
    outputTokens: number | null;
    durationMs: number;
  };
}

/** One test of the selection. */
export interface ReportTest extends Omit<TestState, 'rerunIds'> {
  /** The last of `causeIds`, or null. */
  causeId: string | null;
}

/** One root cause, with its attempts. */
export interface ReportCause extends Omit<CauseRecord, 'tests'> {
  tests: readonly string[];
  verdict: CauseVerdict;
  reason: string;
  attempts: ReportAttempt[];
  /** The sums of the costs (US dollars) and tokens that its agents report; null if none does. */
  costUsd: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  /** The change that broke its lead test, with its lines (BL-3); absent if none was found. */
  blame?: Blame;
  /** The runs that prove its heal (HN-5); empty if there is none. */
  proof: Proof;
  /** The proof of each of its tests, if there is more than one (HL-6). */
  testProofs?: readonly TestProof[];
}

/** One attempt at a cause. */
export interface ReportAttempt extends Omit<Attempt, 'usage'>, Omit<AgentUsage, 'turns'> {
  cut: readonly Cut[];
  notes: readonly Note[];
}

/** A question to a person. */
export interface ReportEscalation {
  id: string;
  /** True if `id` is its id in the store, for use with `self-heal escalations`. */
  stored: boolean;
  causeId: string;
  state: 'pending';
  question: string;
}

/** Creates the report of a run. With all of the run's events, this is report.json; for a killed run, it covers everything until the kill. */
export function createReport(run: RunState): Report {
  const { ended, startedAt, lastEventAt, shards } = run;
  return {
    schemaVersion: 1,
    runId: run.runId,
    project: run.project,
    startedAt: new Date(startedAt ?? 0).toISOString(),
    outcome: ended?.outcome ?? 'interrupted',
    exitCode: ended?.exitCode ?? null,
    ...(run.paused ? { status: 'escalation_threshold_exceeded' as const } : {}),
    commit: ended?.commit ?? null,
    ...(shards ? { shards } : {}),
    dryRun: run.dryRun,
    verify: run.verify,
    tests: listReportTests(run),
    causes: run.causes.map((cause) => createReportCause(run, cause)),
    escalations: listEscalations(run),
    ...(run.flakes.length > 0 ? { flakes: run.flakes } : {}),
    regression: run.regression,
    ...(run.verification ? { verification: run.verification } : {}),
    warnings: mergeWarnings(run.warnings),
    totals: { ...countTotals(run), durationMs: ended?.durationMs ?? (lastEventAt ?? 0) - (startedAt ?? 0) },
  };
}

function countTotals(run: RunState): Omit<Report['totals'], 'durationMs'> {
  const verdicts = [...run.tests.values()].map(({ verdict }) => verdict);
  const countVerdicts = (...these: Verdict[]) => verdicts.filter((verdict) => these.includes(verdict)).length;
  return {
    tests: run.tests.size,
    passed: countVerdicts('passed'),
    flaky: countVerdicts('flaky'),
    healed: countVerdicts('healed'),
    greenOnce: countVerdicts('green-once'),
    failed: countVerdicts('failed', 'escalated', 'rejected', 'agent-unusable'),
    skipped: countVerdicts('skipped'),
    notRun: countVerdicts('not-run'),
    playwrightRuns: run.playwrightRuns,
    agentRuns: run.agentRuns,
    ...sumCosts(run.causes.flatMap(listJudgedAttempts)),
    costUsd: run.costUsd,
  };
}

/** Returns each warning once, with its count if there are several. */
function mergeWarnings(warnings: readonly string[]): string[] {
  return [...new Set(warnings)].map((message) => {
    const times = warnings.filter((warning) => warning === message).length;
    return times > 1 ? `${message} (${times} times)` : message;
  });
}

/** Returns the current status of a run's tests. */
export function listReportTests({ tests, causes }: RunState): ReportTest[] {
  const retries = new Map<string, number>();
  for (const cause of causes) {
    const { length } = listJudgedAttempts(cause);
    for (const { id } of cause.tests) retries.set(id, (retries.get(id) ?? 0) + length);
  }
  return [...tests.values()].map((state) => {
    const { rerunIds: _, ...test } = state;
    const ownRetries = retries.get(test.id) ?? 0;
    return { ...test, retries: test.retries + ownRetries, causeId: test.causeIds.at(-1) ?? null };
  });
}

function listJudgedAttempts({ attempts }: CauseState): Attempt[] {
  return attempts.flatMap(({ judged }) => judged ?? []);
}

function createReportCause({ dryRun }: RunState, cause: CauseState): ReportCause {
  const {
    startedAt: _startedAt,
    phase,
    ended,
    escalationId: _escalationId,
    notes: _notes,
    ...record
  } = cause;
  const attempts = listJudgedAttempts(cause);
  const last = attempts.at(-1);
  const { proof = [], testProofs } = ended?.proof || last?.end.kind !== 'green' ? (ended ?? {}) : last.end;
  const isGreen = ended !== null && isHealed(ended.verdict);
  const stopReason = phase
    ? `the run stopped at: ${describePhaseEvent(phase.since)}`
    : 'the run ended before work on it began';
  return {
    ...record,
    tests: cause.tests.map(({ id }) => id),
    verdict: ended?.verdict ?? (dryRun ? 'failed' : 'interrupted'),
    reason: ended?.reason ?? (dryRun ? 'no agent was started' : stopReason),
    attempts: attempts.map(createReportAttempt),
    ...sumCosts(attempts),
    proof: isGreen ? proof : [],
    ...(isGreen && testProofs ? { testProofs } : {}),
  };
}

/** Converts an attempt to its shape in report.json. */
function createReportAttempt({ usage, ...attempt }: Attempt): ReportAttempt {
  return {
    ...attempt,
    cut: attempt.cut ?? [],
    notes: attempt.notes ?? [],
    costUsd: usage?.costUsd ?? null,
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    sessionId: usage?.sessionId ?? null,
  };
}

function listEscalations({ causes }: RunState): ReportEscalation[] {
  const escalated = causes.filter(({ ended }) => ended?.verdict === 'escalated');
  return escalated.map(({ id: causeId, ended, escalationId }, index) => ({
    id: escalationId ?? `e${index + 1}`,
    stored: escalationId !== null,
    causeId,
    state: 'pending',
    question: ended?.reason ?? '',
  }));
}
