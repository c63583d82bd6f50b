import type { Report, ReportAttempt, ReportCause, ReportTest } from '../../src/run/report.js';

export function aReportAttempt(over: Partial<ReportAttempt> = {}): ReportAttempt {
  return {
    n: 1,
    agent: 'debugger',
    slashCommand: '/debugger',
    runner: 'claude',
    exit: 'completed',
    end: { kind: 'green', proof: [] },
    claim: null,
    durationMs: 4200,
    costUsd: 0.02,
    inputTokens: null,
    outputTokens: null,
    sessionId: null,
    files: [{ path: 'src/orders.ts', added: 2, removed: 1 }],
    patch: 'attempts/1.patch',
    prompt: null,
    change: null,
    cut: [],
    notes: [],
    ...over,
  };
}

export function aReportCause(over: Partial<ReportCause> = {}): ReportCause {
  return {
    id: 'c1',
    signature: 'shop:TypeError:00000001',
    category: 'runtime-error',
    alternatives: [],
    confidence: 0.9,
    warning: null,
    costUsd: null,
    inputTokens: null,
    outputTokens: null,
    headline: 'TypeError: boom',
    source: null,
    why: [
      { rule: 'page-error', category: 'runtime-error', source: 'console', evidence: 'boom', confidence: 0.9 },
    ],
    tests: ['t1'],
    parent: null,
    verdict: 'healed',
    reason: 'fixed by debugger',
    attempts: [aReportAttempt()],
    proof: ['red', 'red', 'green', 'green'],
    evidence: 'failures/1',
    ...over,
  };
}

export function aReportTest(over: Partial<ReportTest> = {}): ReportTest {
  return {
    id: 't1',
    title: ['cart.spec.ts', 'cart', 'adds'],
    file: 'tests/cart.spec.ts',
    line: 12,
    project: 'chromium',
    verdict: 'passed',
    durationMs: 1500,
    retries: 0,
    causeId: null,
    causeIds: [],
    sharedFix: false,
    ...over,
  };
}

/** Creates a report of these tests and causes, with matching totals. */
export function aReport(over: Partial<Report> = {}): Report {
  const { tests = [aReportTest()] } = over;
  const counted = (...verdicts: string[]) => tests.filter((one) => verdicts.includes(one.verdict)).length;
  return {
    schemaVersion: 1,
    runId: '20260101-000000-0001',
    project: 'shop',
    startedAt: '2026-01-01T00:00:00.000Z',
    outcome: 'green',
    exitCode: 0,
    commit: null,
    dryRun: false,
    verify: 'full',
    tests,
    causes: [],
    escalations: [],
    regression: null,
    warnings: [],
    totals: {
      tests: tests.length,
      passed: counted('passed'),
      flaky: counted('flaky'),
      healed: counted('healed'),
      greenOnce: counted('green-once'),
      failed: counted('failed', 'escalated', 'rejected', 'agent-unusable'),
      skipped: counted('skipped'),
      notRun: counted('not-run'),
      playwrightRuns: 1,
      agentRuns: 1,
      inputTokens: null,
      outputTokens: null,
      costUsd: 0.02,
      durationMs: 41_000,
    },
    ...over,
  };
}

/** Texts that a page, a test or an agent may contain, made to break out of whatever they are written into. */
export const hostileTexts: readonly string[] = [
  'two\nlines\r\nand\ttabs',
  '100%0A::error::owned %25',
  '::set-output name=outcome::green',
  'a,b=c:d',
  ']]> ]]>]]> <![CDATA[',
  '<script>alert(1)</script> & "quoted" \'single\'',
  'bell \u0007 escape \u001B[31mred\u001B[0m null \u0000 next \u0085 end \uFFFF',
  'emoji 👩‍👩‍👧 and half of one \uD83D',
  '`code` ```fence``` **bold** [link](http://x) ![image](http://x) | cell | @everyone #1 <!--',
  '</details></summary>',
  'EOF\nself-heal\noutcome=green',
  '',
];
