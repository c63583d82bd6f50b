import path from 'node:path';
import { spentOn } from '../core/spent-on.js';
import type { FinalOutcome } from '../core/outcome.js';
import { reportAttempt, type Report, type ReportCause, type ReportTest } from '../run/report.js';
import type { CauseRecord } from './progress.js';
import type { ShardCount } from '../shards/check-shards.js';
import type { RunRecord } from './run.js';
import type { TestRecord } from '../run/test-records.js';
import type { Session } from './session.js';
import { summarise } from './summarise.js';

/** What a report says beside the record itself. */
export interface ReportFrame {
  readonly final: FinalOutcome;
  readonly startedAt: number;
  readonly dryRun: boolean;
  readonly warnings: readonly string[];
  readonly resumedFrom: string | null;
  /** What it ran on, where all is committed. */
  readonly commit?: string | null;
  readonly shards?: ShardCount | null;
}

/** Puts a finished run into the shape of report.json. */
export function buildReport(session: Session, record: RunRecord, frame: ReportFrame): Report {
  const { agentRuns, agentRunsAvoided, avoided, costUsd } = session.spending.totals();
  const counted = (...verdicts: string[]) =>
    record.tests.filter((one) => verdicts.includes(one.verdict)).length;
  return {
    schemaVersion: 2,
    runId: session.folder.runId,
    project: session.settings.project,
    startedAt: new Date(frame.startedAt).toISOString(),
    outcome: frame.final.outcome,
    exitCode: frame.final.exitCode,
    ...(record.paused ? { status: 'escalation_threshold_exceeded' as const } : {}),
    ...(frame.resumedFrom === null ? {} : { resumedFrom: frame.resumedFrom }),
    commit: frame.commit ?? null,
    ...(frame.shards ? { shards: { total: frame.shards.total, missing: [...frame.shards.missing] } } : {}),
    dryRun: frame.dryRun,
    verify: session.settings.verify.level,
    tests: record.tests.map((one) => reportTest(one, session.cwd)),
    causes: record.causes.map(reportCause),
    escalations: record.causes
      .filter((one) => one.verdict === 'escalated')
      .map((one, index) => ({
        id: one.escalationId ?? `e${index + 1}`,
        stored: one.escalationId != null,
        causeId: one.cause.id,
        state: 'pending',
        question: one.reason,
      })),
    regression: record.regression && {
      ...record.regression,
      broke: record.regression.broke.map(({ causeId, tests }) => ({
        causeId,
        tests: tests.map(({ id }) => id),
      })),
    },
    warnings: [...frame.warnings],
    totals: {
      tests: record.tests.length,
      passed: counted('passed'),
      flaky: counted('flaky'),
      healed: counted('healed'),
      greenOnce: counted('green-once'),
      failed: counted('failed', 'escalated', 'rejected', 'agent-unusable'),
      notRun: counted('not-run'),
      playwrightRuns: session.plan.count(),
      agentRuns,
      agentRunsAvoided,
      avoided,
      ...spentOn(record.causes.flatMap((one) => one.attempts)),
      costUsd,
      durationMs: session.clock.now() - frame.startedAt,
    },
  };
}

function reportTest({ test, causeIds, ...record }: TestRecord, root: string): ReportTest {
  return {
    id: test.id,
    title: test.titlePath,
    file: path.relative(root, test.location.file).replaceAll(path.sep, '/'),
    line: test.location.line,
    project: test.project,
    causeId: causeIds.at(-1) ?? null,
    causeIds,
    ...record,
  };
}

function reportCause({ cause, verdict, reason, attempts }: CauseRecord): ReportCause {
  const { tests, ...summary } = summarise(cause);
  const last = attempts.at(-1);
  const isGreen = verdict === 'healed' || verdict === 'green-once';
  return {
    ...summary,
    source: cause.lead.diagnosis.facts.source,
    tests: tests.map((test) => test.id),
    verdict,
    reason,
    attempts: attempts.map(reportAttempt),
    ...spentOn(attempts),
    ...(cause.blame ? { blame: cause.blame } : {}),
    proof: isGreen ? (last?.proof ?? []) : [],
    ...(isGreen && last?.testProofs ? { testProofs: last.testProofs } : {}),
    evidence: `failures/${cause.lead.n}`,
  };
}
