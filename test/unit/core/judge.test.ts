import { expect, it } from 'vitest';
import { judge } from '../../../src/core/judge.js';
import { aDiagnosed, aDiagnosis, aSuiteFailure, failing } from '../../rig/builders.js';

const before = failing('t1', 'boom');
const suite = aDiagnosed({ failure: aSuiteFailure(), signature: 'shop:Error:suite', rerunIds: [] });
const nothing = { failure: null, suiteFailure: null };

it('HL-1 treats only a test that ran and passed as green', () => {
  expect(judge(before, { ended: 'passed', ...nothing }).kind).toBe('green');
  expect(judge(before, { ended: 'not-run', ...nothing }).kind).toBe('still-failing');
});

it('HL-2 recognizes the same error by its signature', () => {
  const seen = judge(before, { ended: 'failed', failure: failing('t1', 'boom'), suiteFailure: null });
  expect(seen).toEqual({ kind: 'still-failing', because: 'the same error came back' });
});

it('HL-3 recognizes another error by its signature', () => {
  const other = failing('t1', 'crash');
  expect(judge(before, { ended: 'failed', failure: other, suiteFailure: null }).kind).toBe('changed');
});

it('HL-2 HL-3 does not take the same error for another one because of what else was caught of it', () => {
  const rls = { rule: 'rls', category: 'database-error', source: 'server', confidence: 0.95 } as const;
  const because = (table: string | null) =>
    failing('t1', 'timeout', {
      diagnosis: aDiagnosis({
        category: table === null ? 'ui-error' : 'database-error',
        why: table === null ? [] : [{ ...rls, evidence: `row-level security policy for table "${table}"` }],
        facts: { ...aDiagnosis().facts, table },
      }),
    });
  const judgedAs = (table: string | null) =>
    judge(because('orders'), { ended: 'failed', failure: because(table), suiteFailure: null });
  expect(judgedAs('orders')).toMatchObject({ kind: 'still-failing' });
  expect(judgedAs(null)).toMatchObject({ kind: 'still-failing' });
  // The next agent is told that the change may have been one half of a fix.
  expect(judgedAs('order_items')).toMatchObject({
    kind: 'still-failing',
    because: expect.stringContaining('order_items'),
  });
  expect(judgedAs('order_items')).not.toEqual(judgedAs('orders'));
});

it('HL-10 does not treat a test that vanished or is skipped as fixed', () => {
  expect(judge(before, { ended: 'absent', ...nothing }).kind).toBe('vanished');
  expect(judge(before, { ended: 'skipped', ...nothing }).kind).toBe('vanished');
});

it('HL-2 does not treat a suite that no longer starts as progress of a test', () => {
  const seen = judge(before, { ended: 'absent', failure: null, suiteFailure: suite });
  const because = expect.stringContaining('no longer runs') as unknown;
  expect(seen).toMatchObject({ kind: 'still-failing', because });
});

it('CS-10 judges a failure of the suite itself by whether the suite fails the same way again', () => {
  expect(judge(suite, { ended: 'not-run', failure: null, suiteFailure: suite }).kind).toBe('still-failing');
  const other = { ...suite, signature: 'shop:Error:another' };
  expect(judge(suite, { ended: 'not-run', failure: null, suiteFailure: other }).kind).toBe('changed');
  expect(judge(suite, { ended: 'passed', ...nothing }).kind).toBe('green');
});
