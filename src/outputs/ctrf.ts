import { renderProof } from '../core/proof.js';
import { proofFor, suiteItself, type TestView, viewOf } from './view.js';
import type { Report } from '../run/report.js';

/**
 * Renders the run in the Common Test Report Format (https://ctrf.io, 0.1.0). Names and suites match those of Playwright's own CTRF
 * reporter, but paths are relative to the project. What CTRF has no field for is under `extra`.
 */
export function ctrfOf(report: Report): object {
  const { tests } = viewOf(report);
  const start = Date.parse(report.startedAt);
  const stop = start + Math.round(report.totals.durationMs);
  const count = (status: TestView['status']) => tests.filter((one) => one.status === status).length;
  return {
    reportFormat: 'CTRF',
    specVersion: '0.1.0',
    timestamp: new Date(stop).toISOString(),
    generatedBy: 'self-heal',
    results: {
      tool: { name: 'playwright' },
      summary: {
        tests: tests.length,
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
      tests: tests.map(testOf),
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

function testOf({ test, status, message, details, cause }: TestView): object {
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
