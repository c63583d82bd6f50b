import type { Attempt } from '../core/attempt.js';
import { spentOn } from '../core/spent-on.js';
import { type CauseVerdict, isHealed } from '../core/verdict.js';
import { phaseWords } from '../outputs/wording.js';
import type { Report, ReportAttempt, ReportCause, ReportEscalation, ReportTest } from './report.js';
import type { CauseState, RunState } from './run-state.js';

/** Creates the report of a run. With all of the run's events, this is report.json; for a killed run, it covers everything until the kill. */
export function reportOf(run: RunState): Report {
  const { ended, startedAt, lastEventAt, resumedFrom, shards } = run;
  return {
    schemaVersion: 1,
    runId: run.runId,
    project: run.project,
    startedAt: new Date(startedAt ?? 0).toISOString(),
    outcome: ended?.outcome ?? 'interrupted',
    exitCode: ended?.exitCode ?? null,
    ...(run.paused ? { status: 'escalation_threshold_exceeded' as const } : {}),
    ...(resumedFrom === null ? {} : { resumedFrom }),
    commit: ended?.commit ?? null,
    ...(shards ? { shards } : {}),
    dryRun: run.dryRun,
    verify: run.verify,
    tests: reportTests(run),
    causes: run.causes.map((cause) => reportCause(run, cause)),
    escalations: escalationsOf(run),
    ...(run.flakes.length > 0 ? { flakes: run.flakes } : {}),
    regression: run.regression,
    ...(run.verification ? { verification: run.verification } : {}),
    warnings: run.warnings,
    totals: { ...totalsOf(run), durationMs: ended?.durationMs ?? (lastEventAt ?? 0) - (startedAt ?? 0) },
  };
}

function totalsOf(run: RunState): Omit<Report['totals'], 'durationMs'> {
  // The suite's own failure belongs to no test, and counts as one more.
  const ofSuite = run.causes.flatMap(({ summary, ended }) => (summary.tests.length === 0 && ended) || []);
  const verdicts = [...run.tests.values(), ...ofSuite].map(({ verdict }) => verdict);
  const counted = (...those: CauseVerdict[]) => verdicts.filter((one) => those.includes(one)).length;
  const avoided = [...run.avoided].map(([reason, count]) => ({ reason, count }));
  return {
    tests: run.tests.size,
    passed: counted('passed'),
    flaky: counted('flaky'),
    healed: counted('healed'),
    greenOnce: counted('green-once'),
    failed: counted('failed', 'escalated', 'rejected', 'agent-unusable'),
    skipped: counted('skipped'),
    notRun: counted('not-run'),
    playwrightRuns: run.spans.filter(({ since }) => since.type === 'suite.started' && since.n).length,
    agentRuns: run.agentRuns,
    agentRunsAvoided: avoidedIn(run),
    avoided,
    ...spentOn(run.causes.flatMap(attemptsOf)),
    costUsd: run.costUsd,
  };
}

/** Returns how many agent runs were avoided. */
export function avoidedIn({ avoided }: RunState): number {
  return [...avoided.values()].reduce((sum, count) => sum + count, 0);
}

/** Returns the current status of a run's tests. */
export function reportTests({ tests, causes }: RunState): ReportTest[] {
  const retries = new Map<string, number>();
  for (const cause of causes) {
    const { length } = attemptsOf(cause);
    for (const { id } of cause.summary.tests) retries.set(id, (retries.get(id) ?? 0) + length);
  }
  return [...tests.values()].map((one) => {
    const { rerunIds: _, ...test } = one;
    return {
      ...test,
      retries: test.retries + (retries.get(test.id) ?? 0),
      causeId: test.causeIds.at(-1) ?? null,
    };
  });
}

function attemptsOf({ attempts }: CauseState): Attempt[] {
  return attempts.flatMap(({ judged }) => judged ?? []);
}

function reportCause({ dryRun }: RunState, cause: CauseState): ReportCause {
  const { summary, ended, phase } = cause;
  const attempts = attemptsOf(cause);
  const last = attempts.at(-1);
  const { proof = [], testProofs } = ended?.proof || last?.end.kind !== 'green' ? (ended ?? {}) : last.end;
  const isGreen = ended !== null && isHealed(ended.verdict);
  const blamed = cause.asides.findLast((one) => one.type === 'cause.blamed');
  const left = phase ? `the run stopped at: ${phaseWords(phase.since)}` : 'the run ended before its turn';
  return {
    ...summary,
    tests: summary.tests.map(({ id }) => id),
    verdict: ended?.verdict ?? (dryRun ? 'failed' : 'interrupted'),
    reason: ended?.reason ?? (dryRun ? 'no agent was started' : left),
    attempts: attempts.map(reportAttempt),
    ...spentOn(attempts),
    ...(blamed ? { blame: blamed.blame } : {}),
    proof: isGreen ? proof : [],
    ...(isGreen && testProofs ? { testProofs } : {}),
  };
}

/** Converts an attempt to its shape in report.json. */
function reportAttempt({ usage, ...attempt }: Attempt): ReportAttempt {
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

function escalationsOf({ causes }: RunState): ReportEscalation[] {
  const asked = causes.filter(({ ended }) => ended?.verdict === 'escalated');
  return asked.map(({ summary, ended, asides }, index) => {
    const id = asides.findLast((one) => one.type === 'agent.waiting_for_input')?.escalationId ?? null;
    return {
      id: id ?? `e${index + 1}`,
      stored: id !== null,
      causeId: summary.id,
      state: 'pending',
      question: ended?.reason ?? '',
    };
  });
}
