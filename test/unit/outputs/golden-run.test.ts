import path from 'node:path';
import { Chalk } from 'chalk';
import { expect, it } from 'vitest';
import { renderGithubAnnotations, renderGithubOutputs } from '../../../src/outputs/github.js';
import { renderJunit } from '../../../src/outputs/junit.js';
import { renderMarkdown } from '../../../src/outputs/markdown.js';
import { renderSummary } from '../../../src/outputs/summary.js';
import { aReport, aReportAttempt, aReportCause, aReportTest } from '../../rig/a-report.js';
import { anEnd } from '../../rig/builders.js';

/** A run with a cause that was healed, one that was not, and one that a person is asked about. */
const causes = [
  aReportCause({
    headline: 'TimeoutError: locator.click: Timeout 3000ms exceeded.',
    tests: ['t1', 't2'],
    proof: ['red', 'red', 'green', 'green', 'red', 'green'],
  }),
  aReportCause({
    id: 'c2',
    verdict: 'failed',
    reason: 'no approach is left',
    source: 'src/cart.ts:7:3',
    tests: ['t3'],
    proof: [],
    attempts: [1, 2, 3, 4, 5].map((n) =>
      aReportAttempt({ n, costUsd: 0.1, end: anEnd('still-failing', 'the same error') }),
    ),
  }),
  aReportCause({
    id: 'c3',
    verdict: 'escalated',
    reason: 'the key has expired',
    tests: ['t4'],
    attempts: [],
    proof: [],
  }),
];
const verdicts = {
  t1: 'healed',
  t2: 'healed',
  t3: 'failed',
  t4: 'escalated',
  t5: 'flaky',
  t6: 'passed',
} as const;
const tests = Object.entries(verdicts).map(([id, verdict]) => {
  const { id: causeId = null } = causes.find((cause) => cause.tests.includes(id)) ?? {};
  const title = ['cart.spec.ts', 'cart', id];
  return aReportTest({ id, title, verdict, causeId, causeIds: causeId === null ? [] : [causeId] });
});
const question = { state: 'pending' as const, question: 'the key has expired' };
const escalations = [{ id: 'ask-1a2b', stored: true, causeId: 'c3', ...question }];
const report = aReport({ outcome: 'escalated', exitCode: 3, causes, tests, escalations });
const folder = '.self-heal/runs/r1';

/** Each text as users see it: after a change of wording, read what `vitest -u` has changed. */
it.each([
  ['summary.txt', renderSummary(report, { paint: new Chalk({ level: 0 }), columns: 80 })],
  ['summary.md.txt', renderMarkdown(report, { folder })],
  ['junit.xml', renderJunit(report)],
  ['annotations.txt', renderGithubAnnotations(report, { workspace: '/repo', project: '/repo' }).join('\n')],
  ['outputs.txt', renderGithubOutputs(report, folder, 'random')],
])('RP-1 RP-2 RP-3 the text of a run matches %s', async (file, text) => {
  await expect(text).toMatchFileSnapshot(path.join('golden-run', file));
});
