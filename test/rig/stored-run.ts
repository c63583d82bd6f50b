import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { DiagnosedFailure } from '../../src/model/cause.js';
import { writeFailureRecord } from '../../src/run/failure-record.js';
import type { Report } from '../../src/run/report.js';
import { aReport, aReportAttempt, aReportCause, aReportTest } from './a-report.js';
import { aDiagnosed, aDiagnosis, anEvidence } from './builders.js';
import { toEvents } from './events-of-report.js';
import { suiteEnded } from './a-run-of-events.js';
import { agentStarted, shownRun } from './shown-run.js';

/** One dark pixel. */
export const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPj/HwADAgH/p9zY3gAAAABJRU5ErkJggg==',
  'base64',
);

/** Text of a page, an agent or a patch that must not be interpreted as markup. */
export const hostile = '<img src=x onerror=alert(1)></code></pre><script>alert(2)</script> "quoted" & more';

const patch = `diff --git a/src/orders.ts b/src/orders.ts
index 2ba1..3c0f 100644
--- a/src/orders.ts
+++ b/src/orders.ts
@@ -7,5 +7,5 @@ export function orderLine(order: Order): string {
   const items = order.items ?? [];
-  const label = \`\${order.delivery.id}: <b>\${items.length}</b>\`; // '${hostile}'
+  const label = \`\${order.delivery?.id ?? 'none'}: <b>\${items.length}</b>\`; // '${hostile}'
   return label;
 }
 
`;

export const runId = '20261121-071500-000a';

/** Stores a finished run in a project's `.self-heal`: one cause healed, one rejected, one waiting for a person, and a flaky test. */
export async function storedRun(
  projectRoot: string,
  over: Partial<Report> = {},
  id = runId,
): Promise<Report> {
  const run = await shownRun(projectRoot, id);
  const report = aReport({ ...reportContents(), runId: id, ...over });
  await mkdir(path.join(run.dir, 'attempts'), { recursive: true });
  await writeFile(path.join(run.dir, 'attempts', '1.patch'), patch);
  for (const { evidence } of report.causes) {
    const n = Number(evidence.split('/')[1]);
    const folder = path.join(run.dir, 'failures', String(n));
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'screenshot.png'), pixel);
    await writeFailureRecord(folder, aFailure(n, folder));
  }
  await run.tell(
    ...toEvents(report).filter(({ type }) => type !== 'run.ended'),
    { type: 'suite.started', purpose: 'first', tests: null, causeId: null, time: 100 },
    { ...suiteEnded, purpose: 'first', time: 9100 },
    {
      ...agentStarted,
      timeoutMs: 300_000,
      time: 9500,
    },
    {
      type: 'agent.ended',
      causeId: 'c1',
      attempt: 1,
      exit: 'completed',
      durationMs: 4200,
      costUsd: 0.02,
      agentError: null,
      filesChanged: 1,
      orphans: [],
      time: 13_700,
    },
    { type: 'suite.started', purpose: 'retest', tests: 1, causeId: 'c1', time: 13_800 },
    { ...suiteEnded, purpose: 'retest', causeId: 'c1', time: 20_000 },
    ...toEvents(report).filter(({ type }) => type === 'run.ended'),
  );
  return report;
}

function reportContents(): Partial<Report> {
  const tests = ['t1', 't2', 't3', 't4'].map((id, at) =>
    aReportTest({
      id,
      title: ['cart.spec.ts', 'cart', `${id} ${hostile}`],
      verdict: (['healed', 'rejected', 'escalated', 'flaky'] as const)[at] ?? 'passed',
    }),
  );
  const violations = [
    {
      rule: 'assertion-removed',
      file: 'tests/cart.spec.ts',
      line: 12,
      before: `await expect(page.getByTestId('total')).toHaveText('${hostile}');`,
      after: null,
      says: 'an assertion was removed',
    },
  ];
  const rejected = aReportAttempt({
    end: { kind: 'rejected', because: 'weakens the tests', violations },
    patch: null,
  });
  return {
    outcome: 'escalated',
    exitCode: 3,
    tests,
    causes: [
      aReportCause({
        headline: `TypeError: ${hostile}`,
        costUsd: 0.02,
        proof: ['red', 'red', 'green', 'red', 'green'],
      }),
      aReportCause({
        id: 'c2',
        tests: ['t2'],
        verdict: 'rejected',
        attempts: [rejected],
        proof: [],
        evidence: 'failures/2',
      }),
      aReportCause({
        id: 'c3',
        tests: ['t3'],
        verdict: 'escalated',
        attempts: [],
        proof: [],
        parent: 'c1',
        evidence: 'failures/3',
      }),
    ],
    escalations: [
      {
        id: 'e-7',
        stored: true,
        causeId: 'c3',
        state: 'pending',
        question: `Which word is right? ${hostile}`,
      },
    ],
    regression: { tests: 12, leftOut: 2, broke: [] },
    warnings: [`A warning with ${hostile}`],
  };
}

function aFailure(n: number, folder: string): DiagnosedFailure {
  return aDiagnosed({
    n,
    diagnosis: aDiagnosis({
      facts: { ...aDiagnosis().facts, endpoint: 'POST /api/orders → 500', sqlState: '42501' },
    }),
    evidence: anEvidence({
      failedStep: `Click ${hostile}`,
      pageUrl: 'http://127.0.0.1:4317/cart',
      screenshot: path.join(folder, 'screenshot.png'),
      console: [{ time: 1, type: 'error', text: hostile, location: 'http://x/a.js:1:1', stack: null }],
      network: [aRequest('/api/orders', 500), aRequest('/ok.css', 200)],
      serverOutput: `server says ${hostile}`,
      ariaSnapshot: '- heading "Cart"',
      sources: [{ at: 'src/orders.ts:8:3', generated: 'http://x/a.js:1:1', snippet: '> 8 | const label' }],
      missing: ['no trace'],
    }),
  });
}

function aRequest(url: string, status: number) {
  return {
    time: 1,
    method: 'POST',
    url: `http://127.0.0.1:4317${url}`,
    resourceType: 'fetch',
    status,
    durationMs: 12,
    failure: null,
    requestHeaders: {},
    responseHeaders: {},
    requestBody: '{"items":[1]}',
    responseBody: hostile,
  };
}
