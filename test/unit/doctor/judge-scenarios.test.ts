import { describe, expect, it } from 'vitest';
import { selfTestText } from '../../../src/cli/run-doctor.js';
import { scenarios, type SelfTestFacts } from '../../../src/doctor/self-test/scenarios.js';
import { judgeScenarios } from '../../../src/doctor/self-test/judge-scenarios.js';
import { paletteFor } from '../../../src/outputs/palette.js';
import type { Report, ReportAttempt } from '../../../src/run/report.js';
import { aReport, aReportAttempt, aReportCause, aReportTest } from '../../rig/a-report.js';

const weakened = { kind: 'assertion-weakened', file: 'tests/1-cheat.spec.mjs', line: 5 };
const proof = ['red', 'red', 'green', 'red', 'green'] as const;

/** What a run of the scenarios leaves behind if every guard fired; each test changes one thing in it. */
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
      test('broken-neighbor', 'failed'),
      test('green', 'passed'),
    ],
    causes: [
      cause('drifted-locator', 'healed', [aReportAttempt()]),
      cause('real-bug', 'healed', [aReportAttempt()]),
      cause('cheat', 'rejected', [cheat, { ...cheat, n: 2 }]),
      cause('empty-claim', 'failed', [aReportAttempt({ claim, files: [], judged: 'still-failing' })]),
      cause('hanging-agent', 'failed', [aReportAttempt({ outcome: 'timed-out', judged: 'still-failing' })]),
      cause('broken-neighbor', 'failed', [aReportAttempt({ reverted: true })]),
    ],
    regression: { tests: 9, leftOut: 0, broke: [{ causeId: 'broken-neighbor', tests: ['green'] }] },
  });
  return {
    report,
    changed: new Set(['tests/5-drifted-locator.spec.mjs', 'app/total.mjs']),
    started: [101, 102],
    alive: [] as number[],
    orphans: [] as string[],
  } satisfies SelfTestFacts;
}

/** `cheat` → `tests/1-cheat.spec.mjs`; tests that are green have no scenario. */
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

describe('CL-11 a scenario is judged by what its run leaves behind', () => {
  it('CL-11 HN-5 a proof with one more red run before the fix is accepted', () => {
    const facts = everyGuardFired();
    const causes = facts.report.causes.map((one) =>
      one.proof.length > 0 ? { ...one, proof: ['red', ...one.proof] as const } : one,
    );
    const results = judgeScenarios({ ...facts, report: { ...facts.report, causes } });
    expect(results.every(({ held }) => held)).toBe(true);
  });

  it('CL-11 all scenarios hold if every guard fired', () => {
    const results = judgeScenarios(everyGuardFired());
    expect(results.map(({ name, missed }) => [name, missed])).toEqual(
      scenarios.map(({ name }) => [name, []]),
    );
    expect(results.every(({ held }) => held)).toBe(true);
  });

  it.each<[scenario: string, what: string, change: (facts: Facts) => void]>([
    ['drifted locator', 'it was not healed', (f) => (testOf(f, 'drifted-locator').verdict = 'failed')],
    [
      'drifted locator',
      'it was not proven',
      (f) => (causeOf(f, 'drifted-locator').proof = ['red', 'red', 'green']),
    ],
    ['drifted locator', 'its fix was lost', (f) => f.changed.delete('tests/5-drifted-locator.spec.mjs')],
    ['real bug', 'it was not healed', (f) => (causeOf(f, 'real-bug').verdict = 'failed')],
    ['real bug', 'its test was changed', (f) => f.changed.add('tests/6-real-bug.spec.mjs')],
    ['real bug', 'the app was not changed', (f) => f.changed.delete('app/total.mjs')],
    ['flake', 'an agent was paid', (f) => (causeOf(f, 'real-bug').tests = ['real-bug', 'flake'])],
    ['flake', 'it was reported as failed', (f) => (testOf(f, 'flake').verdict = 'failed')],
    ['cheat', 'it was healed', (f) => Object.assign(causeOf(f, 'cheat'), { verdict: 'healed' })],
    [
      'cheat',
      'one of its attempts was accepted',
      (f) => Object.assign(attemptOf(f, 'cheat'), { judged: 'green' }),
    ],
    [
      'cheat',
      'it was caught but not reverted',
      (f) => Object.assign(attemptOf(f, 'cheat'), { reverted: false }),
    ],
    ['cheat', 'the spec was left changed', (f) => f.changed.add('tests/1-cheat.spec.mjs')],
    ['cheat', 'it never cheated', (f) => (causeOf(f, 'cheat').attempts = [])],
    ['empty claim', 'it was believed', (f) => (testOf(f, 'empty-claim').verdict = 'healed')],
    ['empty claim', 'it was never made', (f) => Object.assign(attemptOf(f, 'empty-claim'), { claim: null })],
    [
      'hanging agent',
      'it did not time out',
      (f) => Object.assign(attemptOf(f, 'hanging-agent'), { outcome: 'completed' }),
    ],
    ['hanging agent', 'its child is still alive', (f) => f.alive.push(102)],
    ['hanging agent', 'another process is still alive', (f) => f.orphans.push('103 chrome')],
    ['hanging agent', 'it never started its child', (f) => f.started.pop()],
    [
      'broken neighbor',
      'the regression run found nothing',
      (f) => (f.report.regression = { tests: 9, leftOut: 0, broke: [] }),
    ],
    ['broken neighbor', 'there was no regression run', (f) => (f.report.regression = null)],
    ['broken neighbor', 'its fix was not reverted', (f) => f.changed.add('app/greeting.mjs')],
    ['broken neighbor', 'the neighbor is red', (f) => (testOf(f, 'green').verdict = 'failed')],
  ])('CL-11 %s does not hold if %s', (scenario, _what, change) => {
    const facts = everyGuardFired();
    change(facts);
    const failed = judgeScenarios(facts).filter(({ held }) => !held);
    expect(failed.map(({ name }) => name)).toContain(scenario);
    expect(failed.find(({ name }) => name === scenario)?.missed).not.toEqual([]);
  });

  it('CL-11 no scenario holds after a run in which nothing happened', () => {
    const facts = { ...everyGuardFired(), report: aReport({ tests: [], causes: [] }), changed: new Set('') };
    expect(judgeScenarios(facts).filter(({ held }) => held)).toEqual([]);
  });

  it('CL-11 a scenario whose fault was grouped with another one does not hold', () => {
    const facts = everyGuardFired();
    causeOf(facts, 'empty-claim').tests = ['empty-claim', 'somebody-else'];
    expect(
      judgeScenarios(facts)
        .filter(({ held }) => !held)
        .map(({ name }) => name),
    ).toEqual(['empty claim']);
  });
});

describe('CL-11 the printed result', () => {
  const paint = paletteFor({ NO_COLOR: '1' });
  const around = {
    playwright: '1.65.0',
    browser: { browserName: 'chromium', headless: true },
    durationMs: 51_300,
  } as const;

  it('CL-11 has one line for each scenario, and a summary', () => {
    const text = selfTestText({ ...around, results: judgeScenarios(everyGuardFired()), kept: null }, paint);
    const lines = text.trimEnd().split('\n');
    expect(lines.slice(0, scenarios.length).every((line) => line.startsWith('✓ '))).toBe(true);
    expect(lines[0]).toContain('healed: red red | green | red | green');
    expect(lines.slice(scenarios.length)).toEqual([
      '',
      'All 7 guards fired in 51.3s, with Playwright 1.65.0 and chromium; no model was called.',
    ]);
  });

  it('CL-11 says why a guard did not fire, and where the scratch copy is', () => {
    const facts = everyGuardFired();
    facts.changed.add('tests/1-cheat.spec.mjs');
    const text = selfTestText(
      { ...around, results: judgeScenarios(facts), kept: '/scratch/self-heal-scenario-x' },
      paint,
    );
    expect(text).toMatch(/^✗ cheat .*\n +→ tests\/1-cheat\.spec\.mjs differs from the original$/m);
    expect(text).toContain('1 of 7 guards did not fire');
    expect(text.trimEnd()).toMatch(
      /kept, with everything that was recorded: \/scratch\/self-heal-scenario-x$/,
    );
  });
});
