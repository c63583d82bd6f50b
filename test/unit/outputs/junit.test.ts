import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { junitOf } from '../../../src/outputs/junit.js';
import { aReport, aReportCause, aReportTest, hostileTexts } from '../../rig/a-report.js';
import { all, readXml } from '../../rig/read-xml.js';

const only = (over: Parameters<typeof aReport>[0]) => {
  const [found] = all(readXml(junitOf(aReport(over))), 'testcase');
  if (!found) throw new Error('no test case');
  return found;
};
const inC1 = { causeId: 'c1', causeIds: ['c1'] };

describe('names', () => {
  it('RP-2 are those of Playwright’s junit reporter: file, project, titles', () => {
    const tests = [
      aReportTest(),
      aReportTest({ id: 't2', project: 'firefox' }),
      aReportTest({ id: 't3', title: ['cart.spec.ts', 'removes'], durationMs: 250 }),
    ];
    const root = readXml(junitOf(aReport({ tests })));
    const suites = all(root, 'testsuite');
    expect(suites.map(({ attributes }) => [attributes['name'], attributes['hostname']])).toEqual([
      ['cart.spec.ts', 'chromium'],
      ['cart.spec.ts', 'firefox'],
    ]);
    expect(suites[0]?.attributes).toMatchObject({ tests: '2', failures: '0', skipped: '0', time: '1.75' });
    const inFirst = suites.slice(0, 1).flatMap((one) => all(one, 'testcase'));
    expect(inFirst.map(({ attributes }) => attributes)).toEqual([
      { name: 'cart › adds', classname: 'cart.spec.ts', time: '1.5' },
      { name: 'removes', classname: 'cart.spec.ts', time: '0.25' },
    ]);
  });

  it('RP-2 may contain any hostile text', () => {
    for (const text of hostileTexts) {
      const tests = [
        aReportTest({ title: [`${text}.spec.ts`, text], project: text, verdict: 'failed', ...inC1 }),
      ];
      const causes = [aReportCause({ verdict: 'failed', headline: text, reason: text })];
      const found = only({ tests, causes });
      expect(found.attributes['name']).toBe(asAttribute(text));
      expect(found.children.find(({ name }) => name === 'failure')?.text).toContain(fit(text));
    }
  });

  it('RP-2 are well-formed for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        const tests = [aReportTest({ title: ['a.spec.ts', text], verdict: 'failed', ...inC1 })];
        const causes = [aReportCause({ verdict: 'failed', headline: text })];
        expect(only({ tests, causes }).attributes['name']).toBe(asAttribute(text));
      }),
    );
  });
});

describe('verdicts', () => {
  it('RP-2 a healed test is passed, and says who healed it with what proof', () => {
    const found = only({ tests: [aReportTest({ verdict: 'healed', ...inC1 })], causes: [aReportCause()] });
    expect(found.children.map(({ name }) => name)).toEqual(['properties', 'system-out']);
    expect(found.children[1]?.text).toBe('healed by debugger (claude), proof: red red | green green');
    expect(all(found, 'property').map(({ attributes }) => attributes)).toEqual([
      { name: 'self-heal.verdict', value: 'healed' },
      { name: 'self-heal.cause', value: 'c1' },
    ]);
  });

  it.each(['failed', 'escalated', 'rejected', 'agent-unusable'] as const)(
    'RP-2 %s is a failure',
    (verdict) => {
      const causes = [aReportCause({ verdict, reason: 'no agent is left' })];
      const failure = all(only({ tests: [aReportTest({ verdict, ...inC1 })], causes }), 'failure')[0];
      expect(failure?.attributes).toEqual({ message: 'TypeError: boom', type: 'runtime-error' });
      expect(failure?.text).toContain(`c1 ${verdict}`);
      expect(failure?.text).toContain('no agent is left');
    },
  );

  it.each(['quarantined', 'skipped', 'not-run'] as const)('RP-2 %s is skipped', (verdict) => {
    const root = readXml(junitOf(aReport({ tests: [aReportTest({ verdict })] })));
    expect(root.attributes).toMatchObject({ tests: '1', failures: '0', skipped: '1', errors: '0' });
    expect(all(root, 'skipped')).toHaveLength(1);
  });

  it('RP-2 a failure of the suite itself is an error, since all tests would look skipped; a healed one is passed', () => {
    const tests = [aReportTest({ verdict: 'not-run' })];
    const cause = aReportCause({ tests: [], verdict: 'failed', headline: 'no server' });
    const root = readXml(junitOf(aReport({ tests, causes: [cause] })));
    expect(root.attributes).toMatchObject({ tests: '2', failures: '0', skipped: '1', errors: '1' });
    expect(all(root, 'error')[0]?.attributes['message']).toBe('no server');
    const fixed = readXml(junitOf(aReport({ tests, causes: [{ ...cause, verdict: 'healed' }] })));
    expect(fixed.attributes).toMatchObject({ tests: '2', errors: '0', failures: '0' });
    expect(all(fixed, 'system-out')[0]?.text).toContain('healed');
  });
});

/** The text without the characters that XML does not allow. */
function fit(text: string): string {
  // oxlint-disable-next-line no-control-regex -- removes control characters
  return text.replaceAll(/[\0-\x08\v\f\x0E-\x1F\x7F-\x84\x86-\x9F\p{Surrogate}\uFFFE\uFFFF]/gu, '');
}

function asAttribute(text: string): string {
  return fit(text).replaceAll(/\r\n|[\r\n\t]/g, ' ');
}
