import { renderProof } from '../core/proof.js';
import { type FinalStatus, proofFor, suiteItself, tellTests, type Told } from './final-status.js';
import type { Report } from '../run/report.js';

/**
 * Renders the run in the Common Test Report Format (https://ctrf.io, 0.1.0). Names and suites match those of Playwright's own CTRF
 * reporter, but paths are relative to the project. What CTRF has no field for is under `extra`.
 */
export function ctrfOf(report: Report): object {
  const told = tellTests(report);
  const start = Date.parse(report.startedAt);
  const stop = start + Math.round(report.totals.durationMs);
  const count = (status: FinalStatus['status']) => told.filter(({ word }) => word.status === status).length;
  return {
    reportFormat: 'CTRF',
    specVersion: '0.1.0',
    timestamp: new Date(stop).toISOString(),
    generatedBy: 'self-heal',
    results: {
      tool: { name: 'playwright' },
      summary: {
        tests: told.length,
        passed: count('passed'),
        failed: count('failed'),
        skipped: count('skipped'),
        pending: 0,
        other: 0,
        flaky: report.totals.flaky,
        start,
        stop,
        duration: stop - start,
      },
      tests: told.map(testOf),
      extra: {
        runId: report.runId,
        outcome: report.outcome,
        exitCode: report.exitCode,
        healed: report.totals.healed,
        escalations: report.escalations.length,
        agentRuns: report.totals.agentRuns,
        costUsd: report.totals.costUsd,
      },
    },
  };
}

function testOf({ test, word }: Told): object {
  const { status, message, details, cause } = word;
  const told = {
    status,
    duration: Math.round(test?.durationMs ?? 0),
    type: 'e2e',
    ...(message === null ? {} : { message }),
    ...(details === '' ? {} : { trace: details }),
  };
  const extra = cause && {
    cause: cause.id,
    category: cause.category,
    signature: cause.signature,
    reason: cause.reason,
    proof: renderProof(proofFor(cause, test?.id ?? null)),
  };
  if (test === null) return { name: suiteItself, ...told, extra };
  const titles = test.title.slice(0, -1);
  const suite = [...(test.project ? [test.project] : []), ...titles];
  return {
    // CTRF requires a name, but Playwright allows empty titles.
    name: test.title.at(-1) || '(no title)',
    ...told,
    ...(suite.length > 0 ? { suite } : {}),
    rawStatus: test.verdict,
    filePath: test.file,
    line: test.line,
    retries: test.retries,
    flaky: test.verdict === 'flaky',
    extra: { id: test.id, project: test.project, ...extra },
  };
}
