import { isKept } from '../../../src/core/attempt.js';
import { describe, expect, it } from 'vitest';
import type { Guard } from '../../../src/guard/run-guard.js';
import { harmless } from '../../../src/guard/findings.js';
import { someSettings } from '../../rig/builders.js';
import { noChange } from '../../rig/healing-session.js';
import { simulatedRun, wholeProof, type Shows } from '../../rig/simulated-run.js';

/** Test `tN` needs change `N`. */
const own: Shows = (id, { fixes }) => (fixes.has(id.slice(1)) ? null : `error of ${id}`);
/** A guard that rejects the first `count` changes. */
const weakening = (count: number): { guard: Guard } => {
  let shown = 0;
  const violation = {
    rule: 'assertion-removed',
    file: 'a.spec.ts',
    line: 1,
    before: 'x',
    after: null,
    says: 'x',
  };
  return {
    guard: async () => ({ ...harmless, violations: (shown += 1) <= count ? [violation] : [] }),
  };
};
const tests = (count: number) => Array.from({ length: count }, (_, index) => `t${index + 1}`);
const proofOf = (run: Awaited<ReturnType<typeof simulatedRun>>, at = 0) =>
  run.report.causes[at]?.proof.join(' ');

describe('the shared proof', () => {
  it.each([1, 4, 10])(
    'HN-5 heals %i causes whose first fix holds in that many Playwright runs plus 6',
    async (count) => {
      const run = await simulatedRun(tests(count), own);
      expect(run.runs).toHaveLength(count + 6);
      expect(new Set(Object.values(run.verdicts))).toEqual(new Set(['healed']));
      expect(run.agents).toHaveLength(count);
      for (const { proof } of run.report.causes)
        expect(proof.join(' ')).toMatch(/^red red (red )?green green green red green$/);
    },
  );

  it('HN-5 runs each step once: first, confirm, a retest per fix, three proof runs, and the regression run', async () => {
    const { runs } = await simulatedRun(tests(2), own);
    expect(runs).toEqual([
      'first t1 t2',
      'confirm t1 t2',
      'retest t1 t2',
      'retest t2',
      'proof t1 t2',
      'proof t1 t2',
      'proof t1 t2',
      'regression t1 t2',
    ]);
  });

  it('HN-5 proves a cause on its own if its fix does not hold, and tells the next agent', async () => {
    const flaky: Shows = (id, at) =>
      id === 't1' && at.fixes.has('1') && at.run > 4 ? 'error of t1' : own(id, at);
    const again: Shows = (id, at) => (id === 't1' && at.fixes.has('3') ? null : flaky(id, at));
    const run = await simulatedRun(tests(2), again);
    expect(run.verdicts).toEqual({ t1: 'healed', t2: 'healed' });
    expect(run.report.causes[0]?.attempts).toMatchObject([
      { end: { kind: 'still-failing', because: expect.stringContaining('then red') as unknown } },
      { end: { kind: 'green' } },
    ]);
    expect(run.warnings).toContainEqual('Proving c1 on its own: it was red in a run with all fixes applied');
    expect([...run.fixes]).toEqual(['2', '3']);
    expect(proofOf(run, 1)).toBe('red red red green green green red green');
  });

  it('HN-5 HN-7 reports a test as flaky that is green without its fix, also on its own, and reverts the change', async () => {
    const lucky: Shows = (id, at) => (id === 't1' && at.run > 2 ? null : own(id, at));
    const run = await simulatedRun(tests(2), lucky);
    expect(run.verdicts).toEqual({ t1: 'flaky', t2: 'healed' });
    expect(run.causes).toEqual(['c1 flaky', 'c2 healed']);
    expect([...run.fixes]).toEqual(['2']);
    expect(run.warnings).toContainEqual('Proving c1 on its own: it was green with all fixes reverted');
  });

  it('HN-5 reverts and names a later fix that breaks an earlier one', async () => {
    const breaks: Shows = (id, at) => (id === 't1' && at.fixes.has('2') ? 'broken by 2' : own(id, at));
    const run = await simulatedRun(tests(2), breaks);
    expect(run.verdicts).toEqual({ t1: 'healed', t2: 'failed' });
    expect([...run.fixes]).toEqual(['1']);
    expect(run.report.causes[1]?.reason).toContain('its fix broke another test (adds t1)');
  });

  it('HN-5 HN-7 includes a test that an earlier fix made green in its proof, and starts no agent for it', async () => {
    const both: Shows = (id, { fixes }) => (fixes.has('1') ? null : `error of ${id}`);
    const run = await simulatedRun(tests(2), both);
    expect(run.agents).toHaveLength(1);
    expect(run.report.totals.avoided).toEqual([{ reason: 'earlier-fix', count: 1 }]);
    expect(run.causes).toEqual(['c1 healed', 'c2 healed']);
    expect(run.runs.filter((one) => one.startsWith('proof'))).toEqual([
      'proof t1 t2',
      'proof t1 t2',
      'proof t1 t2',
    ]);
    const noMore: Shows = (id, at) => (id === 't2' && at.run > 4 ? 'error of t2' : both(id, at));
    const unproven = await simulatedRun(tests(2), noMore);
    expect(unproven.verdicts).toEqual({ t1: 'healed', t2: 'failed' });
  });

  it('HN-3 HN-5 heals a test whose agents were rejected twice if a later fix makes it green', async () => {
    const { guard } = weakening(2);
    const third: Shows = (id, { fixes }) => (fixes.has('3') ? null : `error of ${id}`);
    const run = await simulatedRun(tests(2), third, { guard });
    expect(run.report.causes[0]?.attempts).toMatchObject([
      { end: { kind: 'rejected' } },
      { end: { kind: 'rejected' } },
    ]);
    expect(run.causes).toEqual(['c1 healed', 'c2 healed']);
    expect(run.verdicts).toEqual({ t1: 'healed', t2: 'healed' });
  });

  it('HN-5 HL-3 proves a test that a fix made green although the other tests show another error', async () => {
    const shared: Shows = (id, { fixes, run }) => {
      if (!fixes.has('1')) return 'shared';
      if (id === 't2') return run === 5 ? 'shared' : null;
      return fixes.has('2') ? null : 'behind it';
    };
    const run = await simulatedRun(tests(2), shared);
    expect(run.causes).toEqual(['c1 superseded', 'c2 healed']);
    expect(run.verdicts).toEqual({ t1: 'healed', t2: 'healed' });
    const lucky = await simulatedRun(tests(2), (id, at) =>
      id === 't2' && at.run === 3 ? null : id === 't2' ? 'shared' : shared(id, at),
    );
    expect(lucky.verdicts['t2']).not.toBe('healed');
  });

  it('HN-6 HN-7 reports a proven heal that is red once in the regression run as healed with a warning, not as flaky', async () => {
    const once: Shows = (id, at) => (at.purpose === 'regression' && at.run === 7 ? 'a hiccup' : own(id, at));
    const run = await simulatedRun(tests(1), once);
    expect(run.runs).toHaveLength(8);
    expect(run.verdicts).toEqual({ t1: 'healed' });
    expect(proofOf(run)).toBe('red red green green green red red green');
    expect(run.warnings).toContainEqual(expect.stringContaining('red once in the regression run'));
  });

  it('HN-5 after an interrupt, a kept change that was built on an unproven fix counts as reverted with it', async () => {
    // Change 2 gets t2 past its first error.
    const shows: Shows = (id, { fixes }) => {
      if (id === 't1') return fixes.has('1') ? null : 'error of t1';
      return fixes.has('2') ? 'another error of t2' : 'error of t2';
    };
    const { runs } = await simulatedRun(tests(2), shows);
    const signalAfter = runs.findIndex((run) => run.startsWith('proof')) + 1;
    const { report } = await simulatedRun(tests(2), shows, { signalAfter, builtOn: { 2: '1' } });
    const attempts = report.causes.slice(0, 2).flatMap((cause) => cause.attempts);
    expect(attempts.map(({ change }) => change)).toEqual(['1', '2']);
    expect(attempts.filter(isKept)).toEqual([]);
  });

  it('HN-2 leaves no fix applied and no attempt decided when it is interrupted', async () => {
    const run = await simulatedRun(tests(2), own, { signalAfter: 6 });
    expect([...run.fixes]).toEqual([]);
    expect(run.decided).toEqual([]);
    expect(run.record.causes.map(({ verdict, attempts }) => [verdict, attempts[0]?.end.kind])).toEqual([
      ['interrupted', 'interrupted'],
      ['interrupted', 'interrupted'],
    ]);
  });

  it('HL-7 does not confirm an error again that a run of the same tree has shown', async () => {
    const shown: Shows = (id, { fixes }) => (fixes.has(id === 't1' ? '1' : '2') ? null : 'shared');
    const { runs, causes, verdicts } = await simulatedRun(tests(2), shown);
    expect(runs.filter((one) => one.startsWith('confirm'))).toEqual(['confirm t1 t2']);
    expect(causes).toEqual(['c1 healed', 'c2 healed']);
    expect(verdicts).toEqual({ t1: 'healed', t2: 'healed' });
  });

  it('HL-7 HN-5 needs no confirming run for an error that a fix reveals: it is believed only once it was shown twice', async () => {
    const second: Shows = (_, at) => (at.fixes.has('3') ? null : 'second error of t1');
    const chained: Shows = (id, at) => (id === 't1' && at.fixes.has('1') ? second : own)(id, at);
    const { runs, verdicts } = await simulatedRun(tests(2), chained);
    expect(runs.slice(2, 6)).toEqual(['retest t1 t2', 'retest t1 t2', 'retest t2 t1', 'retest t1']);
    expect(verdicts).toEqual({ t1: 'healed', t2: 'healed' });
  });

  it('HN-5 ends with a proof run with the fixes put back if there is no regression run', async () => {
    const settings = someSettings({ verify: { ...wholeProof.verify, regression: 'none' } });
    const run = await simulatedRun(tests(1), own, { settings });
    expect(run.runs.at(-1)).toBe('proof t1');
    expect(proofOf(run)).toBe('red red green green green red green');
  });
});

it('HN-7 does not count as healed if the agent changed no file', async () => {
  const lucky: Shows = (_, { run }) => (run < 3 ? 'boom' : null);
  const given = await simulatedRun(tests(1), lucky);
  const workspace = { ...given.session.workspace, collect: async () => noChange };
  const run = await simulatedRun(tests(1), lucky, { workspace });
  expect(run.causes).toEqual(['c1 flaky']);
  expect(run.report.causes[0]?.reason).toContain('changed no file');
});

describe('a failure of the suite itself after its tests', () => {
  it('HN-5 is proven with all tests that had run before it, since one of them may leave behind what breaks the teardown', async () => {
    const teardown = (ran: readonly string[], { fixes }: { fixes: ReadonlySet<string> }) =>
      ran.includes('t2') && !fixes.has('1') ? 'the account cannot be deleted' : null;
    const run = await simulatedRun(tests(2), () => null, { teardown });
    expect(run.causes).toEqual(['c1 healed']);
    expect(proofOf(run)).toBe('red red green green green red green');
    expect(run.runs.filter((one) => one.startsWith('proof'))).toEqual(Array(3).fill('proof t1 t2'));
    expect(run.record.suiteRed).toBe(false);
  });

  it('HN-6 that a fix brings about reverts the fix', async () => {
    const teardown = (_: readonly string[], { fixes }: { fixes: ReadonlySet<string> }) =>
      fixes.has('1') ? 'the account cannot be deleted' : null;
    const run = await simulatedRun(['t1', 't2'], (id, at) => (id === 't1' ? own(id, at) : null), {
      teardown,
    });
    expect(run.verdicts).toEqual({ t1: 'failed', t2: 'passed' });
    expect(run.report.causes[0]?.reason).toBe('its fix broke the suite itself and was reverted');
    expect([...run.fixes]).toEqual([]);
  });

  it('HN-6 that comes up during the regression run, and is not due to any fix, is healed as a cause of its own', async () => {
    const teardown = (
      _: readonly string[],
      { purpose, fixes }: { purpose: string; fixes: ReadonlySet<string> },
    ) => (purpose === 'first' || fixes.has('2') ? null : 'the disk is nearly full');
    const late = (
      ran: readonly string[],
      at: { purpose: string; fixes: ReadonlySet<string>; run: number },
    ) => (at.run > 6 ? teardown(ran, at) : null);
    const run = await simulatedRun(['t1'], own, { teardown: late });
    expect(run.causes).toEqual(['c1 healed', 'c2 healed']);
    expect(run.verdicts).toEqual({ t1: 'healed' });
  });
});
