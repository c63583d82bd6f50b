import { expect, it } from 'vitest';
import { chooseNeighbours, groupAlike } from '../../../src/core/alike.js';
import { aResult, anError, anEvidence, aTest, aTestFailure, failing } from '../../rig/builders.js';
import { type Shows, simulatedRun } from '../../rig/simulated-run.js';

const six = ['t1', 't2', 't3', 't4', 't5', 't6'];
const confirming = (runs: readonly string[]) => runs.filter((one) => one.startsWith('confirm '));
/** Green as soon as there is a fix; without one, what is given. */
const unfixed =
  (shows: Shows): Shows =>
  (id, at) =>
    at.fixes.size > 0 ? null : shows(id, at);

it('HL-7 runs three of the tests that failed alike again; the others join their cause, and are healed and proven with it', async () => {
  const { runs, report, verdicts } = await simulatedRun(
    six,
    unfixed(() => 'shared'),
  );
  expect(confirming(runs)).toEqual(['confirm t1 t2 t3']);
  expect(report.causes.map(({ tests }) => tests)).toEqual([six]);
  expect(new Set(Object.values(verdicts))).toEqual(new Set(['healed']));
});

it('HL-7 calls three flaky that are green again, and runs those that failed like them', async () => {
  const { runs, verdicts } = await simulatedRun(
    six,
    unfixed((id, { run }) => (run > 1 && ['t1', 't2', 't3'].includes(id) ? null : 'shared')),
  );
  expect(confirming(runs)).toEqual(['confirm t1 t2 t3', 'confirm t4 t5 t6']);
  expect(verdicts).toMatchObject({ t1: 'flaky', t3: 'flaky', t4: 'healed', t6: 'healed' });
});

it('HL-7 runs all of them if the three turn out to have several causes', async () => {
  const shows = unfixed((id, { run }) => (run > 1 && id === 't2' ? 'another' : 'shared'));
  const { runs, report } = await simulatedRun(six, shows);
  expect(confirming(runs)).toEqual(['confirm t1 t2 t3', 'confirm t4 t5 t6']);
  expect(report.causes.map(({ tests }) => tests)).toEqual([['t1', 't3', 't4', 't5', 't6'], ['t2']]);
});

it('CS-7 takes green tests of the same file along, at most two', async () => {
  const { runs } = await simulatedRun(
    six,
    unfixed((id) => (id === 't3' ? 'boom' : null)),
  );
  expect(confirming(runs)).toEqual(['confirm t3 t1 t2']);
});

it('EV-1 tells both errors of a test that fails of something else when it is run again', async () => {
  const { record } = await simulatedRun(
    ['t1'],
    unfixed((_, { run }) => (run === 1 ? 'first error' : 'another')),
  );
  const { otherRun, errors } = record.causes[0]?.cause.lead.evidence ?? {};
  expect(errors?.map(({ message }) => message)).toEqual(['Error: another']);
  expect(otherRun).toMatchObject({ run: 'first', errors: [{ message: 'Error: first error' }] });
});

it('HL-7 takes tests for alike that have the same error, or wait in vain for something on the same page', () => {
  const missing = (locator: string) =>
    anError(`TimeoutError: locator.click: Timeout 5ms exceeded.\nCall log:\n  - waiting for ${locator}\n`);
  const waiting = (id: string, page: string | null) =>
    failing(id, id, { evidence: anEvidence({ errors: [missing(`locator('#${id}')`)], ariaSnapshot: page }) });
  const [a, b, other, unknown] = [
    waiting('a', 'overlay'),
    waiting('b', 'overlay'),
    waiting('c', 'shop'),
    waiting('d', null),
  ];
  const value = failing('e', 'e', {
    evidence: anEvidence({ errors: [anError('Error: expect(1).toBe(2)')], ariaSnapshot: 'shop' }),
  });
  const same = failing('f', 'f', { signature: value.signature });
  expect(groupAlike([a, b, other, unknown, value, same])).toEqual([
    [a, b],
    [other],
    [unknown],
    [value, same],
  ]);
});

it('CS-7 chooses neighbours of the same file and project, near a failing test and not slow', () => {
  const at = (id: string, line: number, over = {}) =>
    aTest(id, { location: { file: 'a.spec.ts', line, column: 1 }, titlePath: ['a.spec.ts', id], ...over });
  const green = [
    at('far', 90),
    at('near', 12),
    at('above', 7),
    at('grouped', 80, { titlePath: ['a.spec.ts', 'cart', 'grouped'] }),
    at('other project', 11, { project: 'firefox' }),
    at('other file', 11, { location: { file: 'b.spec.ts', line: 11, column: 1 } }),
  ].map((test) => ({ ...aResult(test.id, 'expected'), test }));
  const slow = { ...aResult('slow', 'expected'), test: at('slow', 10), durationMs: 20_000 };
  const failed = (id: string, over = {}) => ({
    ...failing(id, id),
    failure: aTestFailure({ test: at(id, 10, over) }),
  });
  expect(chooseNeighbours([failed('x'), failed('y')], [slow, ...green])).toEqual(['near', 'above']);
  const inGroup = failed('x', { titlePath: ['a.spec.ts', 'cart', 'x'] });
  expect(chooseNeighbours([inGroup], green)).toEqual(['grouped', 'near']);
});
