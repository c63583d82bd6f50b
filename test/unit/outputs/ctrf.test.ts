import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { ctrfOf } from '../../../src/outputs/ctrf.js';
import type { Report } from '../../../src/run/report.js';
import { aReport, aReportCause, aReportTest, hostileTexts } from '../../rig/a-report.js';

const whole = z.int().min(0);
const text = z.string().optional();
const extra = z.record(z.string(), z.unknown()).optional();
const status = z.enum(['passed', 'failed', 'skipped', 'pending', 'other']);
const counts = z.record(z.enum([...status.options, 'tests', 'flaky', 'start', 'stop', 'duration']), whole);
const test = z.strictObject({
  name: z.string().min(1),
  status,
  duration: whole,
  suite: z.array(z.string()).min(1).optional(),
  message: text,
  trace: text,
  line: whole.optional(),
  rawStatus: text,
  type: text,
  filePath: text,
  retries: whole.optional(),
  flaky: z.boolean().optional(),
  extra,
});

/** The part of the CTRF specification that we use (https://ctrf.io/docs/specification/overview): no other member is allowed. */
const ctrf = z.strictObject({
  reportFormat: z.literal('CTRF'),
  specVersion: z.string().regex(/^\d+\.\d+\.\d+$/),
  timestamp: z.iso.datetime(),
  generatedBy: z.string(),
  results: z.strictObject({
    tool: z.strictObject({ name: z.string().min(1) }),
    summary: counts,
    tests: z.array(test),
    extra,
  }),
});

const read = (report: Report) => ctrf.parse(JSON.parse(JSON.stringify(ctrfOf(report)))).results;
const inC1 = { causeId: 'c1', causeIds: ['c1'] };

it('RP-2 CTRF is valid, its counts add up, and each verdict has its status', () => {
  const statuses = {
    passed: ['passed', 'flaky', 'healed'],
    failed: ['failed', 'escalated', 'rejected', 'agent-unusable'],
    skipped: ['quarantined', 'skipped', 'not-run'],
  } as const;
  const tests = Object.values(statuses)
    .flat()
    .map((verdict) => aReportTest({ id: verdict, verdict, ...(verdict === 'passed' ? {} : inC1) }));
  const { summary, tests: found } = read(aReport({ tests, causes: [aReportCause()] }));
  for (const [status, verdicts] of Object.entries(statuses))
    expect(found.filter((one) => one.status === status).map((one) => one.rawStatus)).toEqual(verdicts);
  expect(summary).toMatchObject({ tests: 10, passed: 3, failed: 4, skipped: 3, flaky: 1, duration: 41_000 });
  expect(found.filter((one) => one.flaky)).toHaveLength(1);
});

it('RP-2 CTRF names tests as Playwright’s CTRF reporter does', () => {
  const tests = [aReportTest({ verdict: 'healed', retries: 2, durationMs: 12.4, ...inC1 })];
  expect(read(aReport({ tests, causes: [aReportCause()] })).tests[0]).toEqual({
    name: 'adds',
    suite: ['chromium', 'cart.spec.ts', 'cart'],
    filePath: 'tests/cart.spec.ts',
    line: 12,
    status: 'passed',
    rawStatus: 'healed',
    type: 'e2e',
    duration: 12,
    retries: 2,
    flaky: false,
    message: 'healed by debugger (claude), proof: red red | green green',
    extra: {
      id: 't1',
      project: 'chromium',
      cause: 'c1',
      category: 'runtime-error',
      signature: 'shop:TypeError:00000001',
      reason: 'fixed by debugger',
      proof: 'red red | green green',
    },
  });
});

it('RP-2 CTRF includes a failure of the suite itself', () => {
  const causes = [aReportCause({ tests: [], verdict: 'escalated', headline: 'no server' })];
  const { tests, summary } = read(aReport({ tests: [], causes }));
  expect(tests).toMatchObject([{ status: 'failed', message: 'no server' }]);
  expect(summary).toMatchObject({ tests: 1, failed: 1 });
});

it('RP-2 CTRF is valid for any text', () => {
  const check = (text: string) => {
    const tests = [
      aReportTest({ title: [text, text], project: text, file: text, verdict: 'failed', ...inC1 }),
    ];
    const causes = [aReportCause({ verdict: 'failed', headline: text, reason: text })];
    expect(read(aReport({ tests, causes })).tests[0]?.filePath).toBe(text);
  };
  for (const text of hostileTexts) check(text);
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), check));
});
