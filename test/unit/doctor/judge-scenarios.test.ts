import { describe, expect, it } from 'vitest';
import { selfTestText } from '../../../src/cli/run-self-test.js';
import { scenarios } from '../../../src/doctor/self-test/scenarios.js';
import type { SelfTestFacts } from '../../../src/doctor/self-test/facts.js';
import { judgeScenarios } from '../../../src/doctor/self-test/run-self-test.js';
import { paletteFor } from '../../../src/outputs/palette.js';
import type { Report, ReportAttempt } from '../../../src/run/report.js';
import { aReport, aReportAttempt, aReportCause, aReportTest } from '../../rig/a-report.js';

const weakened = { kind: 'assertion-weakened', file: 'tests/1-cheat.spec.mjs', line: 5 };
const proof = ['red', 'red', 'green', 'red', 'green'] as const;

/** What a run of the scenario leaves in which every guard fired; changed by the tests, one thing at a time. */
function everyGuardFired() {
  const test = (name: string, verdict: Report['tests'][number]['verdict']) =>
    aReportTest({ id: name, file: specOf(name), verdict });
  const cause = (name: string, verdict: 'healed' | 'failed' | 'rejected', attempts: ReportAttempt[]) =>
    aReportCause({ id: name, tests: [name], verdict, attempts, proof: verdict === 'healed' ? proof : [] });
  const claim = { status: 'fixed', summary: 'Fix applied successfully.' } as const;
  const cheat = aReportAttempt({
    judged: 'rejected',
    reverted: true,
    violations: [weakened as never],
  });
  const report = aReport({
    outcome: 'red',
    exitCode: 1,
    tests: [
      test('drifted-locator', 'healed'),
      test('real-bug', 'healed'),
      test('flake', 'flaky'),
      test('cheat', 'rejected'),
      test('empty-claim', 'failed'),
      test('hanging-agent', 'failed'),
      test('broken-neighbour', 'failed'),
      test('green', 'passed'),
    ],
    causes: [
      cause('drifted-locator', 'healed', [aReportAttempt()]),
      cause('real-bug', 'healed', [aReportAttempt()]),
      cause('cheat', 'rejected', [cheat, { ...cheat, n: 2 }]),
      cause('empty-claim', 'failed', [aReportAttempt({ claim, files: [], judged: 'still-failing' })]),
      cause('hanging-agent', 'failed', [aReportAttempt({ outcome: 'timed-out', judged: 'still-failing' })]),
      cause('broken-neighbour', 'failed', [aReportAttempt({ reverted: true })]),
    ],
    regression: { tests: 9, leftOut: 0, broke: [{ causeId: 'broken-neighbour', tests: ['green'] }] },
  });
  return {
    report,
    changed: new Set(['tests/5-drifted-locator.spec.mjs', 'app/total.mjs']),
    started: [101, 102],
    alive: [] as number[],
    orphans: [] as string[],
  } satisfies SelfTestFacts;
}

/** `cheat` → `tests/1-cheat.spec.mjs`; the tests that are green have no scenario. */
function specOf(name: string): string {
  return scenarios.find(({ spec }) => spec.endsWith(`-${name}.spec.mjs`))?.spec ?? `tests/${name}.spec.mjs`;
}

type Facts = ReturnType<typeof everyGuardFired>;

function testOf({ report }: Facts, name: string) {
  return report.tests.find(({ id }) => id === name) as Report['tests'][number];
}

function causeOf({ report }: Facts, name: string) {
  return report.causes.find(({ id }) => id === name) as Report['causes'][number];
}

function attemptOf(facts: Facts, name: string): ReportAttempt {
  const [first = aReportAttempt()] = causeOf(facts, name).attempts;
  return first;
}

describe('CL-11 a scenario is judged by what the run left', () => {
  it('CL-11 HN-5 a test that was red once more before its fix is proven as well', () => {
    const facts = everyGuardFired();
    const causes = facts.report.causes.map((one) =>
      one.proof.length > 0 ? { ...one, proof: ['red', ...one.proof] as const } : one,
    );
    const results = judgeScenarios({ ...facts, report: { ...facts.report, causes } });
    expect(results.every(({ held }) => held)).toBe(true);
  });

  it('CL-11 every guard fired', () => {
    const results = judgeScenarios(everyGuardFired());
    expect(results.map(({ name, missed }) => [name, missed])).toEqual(
      scenarios.map(({ name }) => [name, []]),
    );
    expect(results.every(({ held }) => held)).toBe(true);
  });

  it.each<[scenario: string, what: string, change: (facts: Facts) => void]>([
    ['drifted locator', 'not healed', (f) => (testOf(f, 'drifted-locator').verdict = 'failed')],
    ['drifted locator', 'not proven', (f) => (causeOf(f, 'drifted-locator').proof = ['red', 'red', 'green'])],
    ['drifted locator', 'the fix was lost', (f) => f.changed.delete('tests/5-drifted-locator.spec.mjs')],
    ['real bug', 'not healed', (f) => (causeOf(f, 'real-bug').verdict = 'failed')],
    ['real bug', 'the test was bent', (f) => f.changed.add('tests/6-real-bug.spec.mjs')],
    ['real bug', 'the app is as it was', (f) => f.changed.delete('app/total.mjs')],
    ['flake', 'an agent was paid', (f) => (causeOf(f, 'real-bug').tests = ['real-bug', 'flake'])],
    ['flake', 'it was called failed', (f) => (testOf(f, 'flake').verdict = 'failed')],
    ['cheat', 'it was healed', (f) => Object.assign(causeOf(f, 'cheat'), { verdict: 'healed' })],
    [
      'cheat',
      'one of its tries was believed',
      (f) => Object.assign(attemptOf(f, 'cheat'), { judged: 'green' }),
    ],
    [
      'cheat',
      'it was caught, and left in the tree',
      (f) => Object.assign(attemptOf(f, 'cheat'), { reverted: false }),
    ],
    ['cheat', 'a byte of the spec differs', (f) => f.changed.add('tests/1-cheat.spec.mjs')],
    ['cheat', 'it never cheated', (f) => (causeOf(f, 'cheat').attempts = [])],
    ['empty claim', 'it was believed', (f) => (testOf(f, 'empty-claim').verdict = 'healed')],
    ['empty claim', 'it was never made', (f) => Object.assign(attemptOf(f, 'empty-claim'), { claim: null })],
    [
      'hanging agent',
      'it was not timed out',
      (f) => Object.assign(attemptOf(f, 'hanging-agent'), { outcome: 'completed' }),
    ],
    ['hanging agent', 'its child lives on', (f) => f.alive.push(102)],
    ['hanging agent', 'something else lives on', (f) => f.orphans.push('103 chrome')],
    ['hanging agent', 'it never came to hang', (f) => f.started.pop()],
    [
      'broken neighbour',
      'the regression run saw nothing',
      (f) => (f.report.regression = { tests: 9, leftOut: 0, broke: [] }),
    ],
    ['broken neighbour', 'there was no regression', (f) => (f.report.regression = null)],
    ['broken neighbour', 'its fix is still there', (f) => f.changed.add('app/greeting.mjs')],
    ['broken neighbour', 'the neighbour is red', (f) => (testOf(f, 'green').verdict = 'failed')],
  ])('CL-11 %s: %s', (scenario, _what, change) => {
    const facts = everyGuardFired();
    change(facts);
    const failed = judgeScenarios(facts).filter(({ held }) => !held);
    expect(failed.map(({ name }) => name)).toContain(scenario);
    expect(failed.find(({ name }) => name === scenario)?.missed).not.toEqual([]);
  });

  it('CL-11 a run in which nothing happened fires no guard', () => {
    const facts = { ...everyGuardFired(), report: aReport({ tests: [], causes: [] }), changed: new Set('') };
    expect(judgeScenarios(facts).filter(({ held }) => held)).toEqual([]);
  });

  it('CL-11 two planted faults that are taken for one are seen', () => {
    const facts = everyGuardFired();
    causeOf(facts, 'empty-claim').tests = ['empty-claim', 'somebody-else'];
    expect(
      judgeScenarios(facts)
        .filter(({ held }) => !held)
        .map(({ name }) => name),
    ).toEqual(['empty claim']);
  });
});

describe('CL-11 what a person reads', () => {
  const paint = paletteFor({ NO_COLOR: '1' });
  const around = {
    playwright: '1.65.0',
    browser: { browserName: 'chromium', headless: true },
    durationMs: 51_300,
  } as const;

  it('CL-11 one line for each scenario, and a last one', () => {
    const text = selfTestText({ ...around, results: judgeScenarios(everyGuardFired()), kept: null }, paint);
    const lines = text.trimEnd().split('\n');
    expect(lines.slice(0, scenarios.length).every((line) => line.startsWith('✓ '))).toBe(true);
    expect(lines[0]).toContain('healed: red red | green | red | green');
    expect(lines.slice(scenarios.length)).toEqual([
      '',
      'All 7 guards fired in 51.3s, with Playwright 1.65.0 and chromium; no model was called.',
    ]);
  });

  it('CL-11 a guard that did not fire says why, and where the scratch copy is', () => {
    const facts = everyGuardFired();
    facts.changed.add('tests/1-cheat.spec.mjs');
    const text = selfTestText(
      { ...around, results: judgeScenarios(facts), kept: '/scratch/self-heal-scenario-x' },
      paint,
    );
    expect(text).toMatch(/^✗ cheat .*\n +→ the spec differs from the original$/m);
    expect(text).toContain('1 of 7 guards did not fire');
    expect(text.trimEnd()).toMatch(
      /kept, with everything that was recorded: \/scratch\/self-heal-scenario-x$/,
    );
  });
});
