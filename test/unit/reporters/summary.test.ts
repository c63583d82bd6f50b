import { Chalk } from 'chalk';
import { expect, it } from 'vitest';
import type { Report, ReportAttempt, ReportCause, ReportTest } from '../../../src/reporters/report.js';
import { summaryOf } from '../../../src/reporters/summary.js';

const paint = new Chalk({ level: 0 });

const attempt: ReportAttempt = {
  n: 1,
  agent: 'debugger',
  slashCommand: '/debugger',
  runner: 'claude',
  outcome: 'completed',
  judged: 'green',
  claim: null,
  durationMs: 4200,
  costUsd: 0.02,
  inputTokens: null,
  outputTokens: null,
  sessionId: null,
  files: [{ path: 'src/orders.ts', added: 2, removed: 1 }],
  patch: 'attempts/1.patch',
  prompt: 'attempts/1.prompt.md',
  checkpoints: null,
  proof: [],
  takenBack: false,
  failedBecause: null,
};

const cause: ReportCause = {
  id: 'c1',
  signature: 's',
  category: 'runtime-error',
  alternatives: ['ui-error'],
  confidence: 0.9,
  warning: null,
  headline: 'TimeoutError: locator.click: Timeout 3000ms exceeded.',
  why: [
    {
      rule: 'page-error',
      category: 'runtime-error',
      source: 'console',
      evidence: "TypeError: Cannot read properties of undefined (reading 'id')",
      confidence: 0.9,
    },
  ],
  tests: ['t1', 't2'],
  parent: null,
  verdict: 'healed',
  reason: 'fixed by debugger',
  attempts: [attempt],
  costUsd: 0.02,
  inputTokens: null,
  outputTokens: null,
  proof: ['red', 'red', 'green', 'green', 'red', 'green'],
  evidence: 'failures/1',
};

const test = (id: string, verdict: ReportTest['verdict']): ReportTest => ({
  id,
  title: ['cart.spec.ts', 'cart', id],
  file: 'tests/cart.spec.ts',
  line: 12,
  project: 'chromium',
  verdict,
  retries: 1,
  causeId: 'c1',
  causeIds: ['c1'],
  sharedFix: id !== 't1',
});

function report(over: Partial<Report> = {}): Report {
  return {
    schemaVersion: 1,
    runId: 'r1',
    project: 'shop',
    startedAt: '2026-01-01T00:00:00.000Z',
    outcome: 'green',
    exitCode: 0,
    dryRun: false,
    tests: [test('t1', 'healed'), test('t2', 'healed')],
    causes: [cause],
    escalations: [],
    ring: null,
    warnings: [],
    totals: {
      tests: 16,
      passed: 14,
      flaky: 0,
      healed: 2,
      failed: 0,
      notRun: 0,
      agentRuns: 1,
      agentRunsAvoided: 1,
      inputTokens: null,
      outputTokens: null,
      costUsd: 0.02,
      durationMs: 41_000,
    },
    ...over,
  };
}

const show = (given: Report, columns = 100) =>
  summaryOf(given, { paint, columns, folder: '.self-heal/runs/r1' }).split('\n');

it('RP-1 shows cause, class, why, agent, attempts, files and cost', () => {
  expect(show(report())).toEqual([
    '',
    'self-heal  GREEN  14 passed · 2 healed · 1 agent run · 1 avoided · $0.02 · 41s',
    '  ✓ c1 healed · runtime-error · TimeoutError: locator.click: Timeout 3000ms exceeded.',
    "      why     console: TypeError: Cannot read properties of undefined (reading 'id')",
    '      tests   2: [chromium] › tests/cart.spec.ts:12 › cart › t1 (+1)',
    '      try 1   /debugger (claude) completed, 4.2s, $0.02 → green',
    '      proof   red red | green green | red | green',
    '      files   src/orders.ts +2 −1',
    '  next review the fix: git diff, or the patches in .self-heal/runs/r1/attempts/',
    '  next everything that was seen: .self-heal/runs/r1/',
    '',
  ]);
});

it('RP-1 says of what failed how it ended and where to look', () => {
  const failed = {
    ...attempt,
    judged: 'still-failing' as const,
    takenBack: true,
    failedBecause: 'the same error',
  };
  const lines = show(
    report({
      outcome: 'red',
      causes: [{ ...cause, verdict: 'failed', reason: 'no more', attempts: [failed] }],
    }),
  );
  expect(lines).toContain(
    '      try 1   /debugger (claude) completed, 4.2s, $0.02 → still-failing, taken back (the same error)',
  );
  expect(lines).toContain('      end     no more');
  expect(lines).toContain('      look    .self-heal/runs/r1/failures/1/');
  expect(lines.join('\n')).not.toContain('git diff');
});

it('RP-1 fits a screen however many causes there are', () => {
  const many = Array.from({ length: 300 }, (_, index) => ({ ...cause, id: `c${index}` }));
  const lines = show(report({ causes: many }));
  expect(lines.length).toBeLessThan(56);
  expect(lines.join('\n')).toContain('292 more causes');
});

it('RP-1 keeps every line within the terminal', () => {
  const long = { ...cause, headline: 'x'.repeat(500), reason: 'y '.repeat(300), verdict: 'failed' as const };
  for (const line of show(report({ causes: [long], warnings: ['z '.repeat(200)] }), 80)) {
    expect(line.length).toBeLessThanOrEqual(80);
  }
});
